/** Words in a name that make a write destructive, and what they do. */
export const DESTRUCTIVE_WORDS: Readonly<Record<string, string>> = {
  merge: "joins for good",
  transfer: "changes owner and address",
  archive: "makes everything read-only",
  rotate: "ends the old secret",
  revoke: "ends a secret or an access",
  ban: "shuts a person out",
  block: "shuts a person out",
  unprotect: "opens what was guarded",
  erase: "removes content",
  stop: "takes an environment down",
};

/** Words that stand for what DELETE is in REST: names of GraphQL mutations have no method to tell it. */
export const DELETING_WORDS: readonly string[] = ["delete", "destroy", "remove", "purge", "prune", "reset", "disable", "unlink", "wipe"];

const THINGS = /merge_?request|merge_?train/gi;

/** The words of a name in snake or camel case; `merge request` is a thing and no deed. */
export function wordsIn(name: string): readonly string[] {
  return name
    .replace(THINGS, "change")
    .replace(/([a-z0-9])([A-Z])/g, "$1_$2")
    .toLowerCase()
    .split(/[^a-z0-9]+/);
}

/** Whether a GraphQL mutation of this name destroys something. */
export const destroys = (mutation: string): boolean =>
  wordsIn(mutation).some((word) => word in DESTRUCTIVE_WORDS || DELETING_WORDS.includes(word));
