import type { Action, Effect } from "../catalog/types.ts";
import { WEIGHTS } from "./weights.ts";

/** What an action does, as its id and name say it; `act` stands for a verb of its own (approve, rebase …). */
export type VerbClass = "list" | "get" | "create" | "update" | "delete" | "act";

export const VERB_CLASSES: readonly VerbClass[] = ["list", "get", "create", "update", "delete", "act"];

const CLASSES: Readonly<Record<string, VerbClass>> = {
  list: "list",
  search: "list",
  find: "list",
  get: "get",
  show: "get",
  read: "get",
  view: "get",
  check: "get",
  download: "get",
  create: "create",
  add: "create",
  new: "create",
  upload: "create",
  update: "update",
  edit: "update",
  set: "update",
  change: "update",
  delete: "delete",
  remove: "delete",
  destroy: "delete",
  erase: "delete",
};

/** Verbs of their own, by the plain class that they are a kind of: who wants a token gone wants it revoked. */
const KINDS: Readonly<Record<Exclude<VerbClass, "act">, string>> = {
  list: "search",
  get: "download export compare render lint wait explain blame draft identify verify count diff test review",
  create:
    "share link import upload start trigger run play register publish assign invite subscribe follow star fork clone protect ask request attach log record retry resend revert cherry react reply comment report mount enable",
  update:
    "rotate reset renew refresh sync transfer move rename promote demote archive unarchive restore activate deactivate enable disable pause resume block unblock ban unban mark apply approve unapprove resolve reopen close confirm dismiss rebase merge reorder replace override take lock unlock limit allow extend keep switch configure repair stop cancel",
  delete:
    "revoke unshare unlink detach deny reject purge erase unprotect unsubscribe unstar unfollow unassign unschedule withdraw drop forget disable stop cancel decline",
};

const kindsOf = (word: string): VerbClass[] => VERB_CLASSES.filter((verb) => verb !== "act" && ` ${KINDS[verb]} `.includes(` ${word} `));

export interface DocVerb {
  readonly verb: VerbClass;
  /** For a verb of its own: the plain classes that it is a kind of. */
  readonly kinds: readonly VerbClass[];
  /** Words that name the verb; the rest of the id names the resource. */
  readonly words: readonly string[];
  /** The verb is one of its own: its words count as content. */
  readonly specific: boolean;
}

/** The verb of an action from the parts of its id (`domain.noun_verb`) and the first word of its tool name. */
export function verbOf(action: Action): DocVerb {
  const parts = (action.id.split(".").at(-1) ?? action.id).split("_");
  const last = parts.at(-1) ?? "";
  const first = parts[0] ?? "";
  const tool = action.tool.split(/[_\-.]/)[0] ?? "";
  const named = CLASSES[last] ? last : CLASSES[first] ? first : undefined;
  if (named)
    return { verb: CLASSES[named] ?? "act", kinds: [], words: [...new Set([named, CLASSES[tool] ? tool : named])], specific: false };
  const verb = CLASSES[tool];
  if (verb) return { verb, kinds: [], words: [tool], specific: false };
  return { verb: "act", kinds: [...new Set([first, last, tool].flatMap(kindsOf))], words: [...new Set([...parts, tool])], specific: true };
}

export interface Wish {
  readonly verbs: ReadonlySet<string>;
  /** A question word: the answer is to be read. */
  readonly asks: boolean;
  /** The resource is named in the plural. */
  readonly plural: boolean;
  /** It may be: its language does not tell. */
  readonly maybePlural: boolean;
  /** Said to be so from now on (`should`, `must`), without a verb that is known. */
  readonly demands: boolean;
}

/** Factor for an action of a class and effect under a wish. */
export function fitOf(verb: VerbClass, effect: Effect, wish: Wish): number {
  const { wished, unsaid, demanded, readingAct, otherAct, writingAct, asked, manyGot } = WEIGHTS.intent;
  const isReading = effect === "read";
  let fit = 0;
  for (const said of wish.verbs) {
    const row = wished[said as VerbClass];
    if (!row) continue;
    const toRead = said === "list" || said === "get";
    const act = isReading ? (toRead ? readingAct : otherAct) : toRead ? writingAct : row.act;
    fit = Math.max(fit, verb === "act" ? act : row[verb]);
  }
  if (wish.verbs.size === 0 && wish.demands) fit = verb === "act" && isReading ? demanded.get : demanded[verb];
  else if (wish.verbs.size === 0) fit = verb === "act" && isReading ? readingAct : unsaid[verb];
  if (wish.asks && !isReading) fit *= asked;
  if (wish.plural && verb === "get" && !wish.verbs.has("create")) fit *= manyGot;
  if (wish.plural && verb === "list" && wish.verbs.has("get")) fit = Math.max(fit, 1);
  return fit;
}

/** 1 where the class of an action is one that was wished for, -1 where it is another, 0 without a wish. */
export function wishFor(verb: VerbClass, { verbs, plural, maybePlural }: Wish): -1 | 0 | 1 {
  if (verbs.size === 0) return 0;
  if (verbs.has("get") && (plural || maybePlural)) {
    if (verb === "list") return 1;
    if (verb === "get" && plural) return -1;
  }
  return verbs.has(verb) ? 1 : -1;
}
