import type { Action, Effect } from "../catalog/types.ts";

/** A request that the caller writes: what it does is told by the request alone. */
export const isRawRest = ({ composite }: Pick<Action, "composite">): boolean => composite === "raw_rest";
export const isRaw = (action: Pick<Action, "composite">): boolean => isRawRest(action) || action.composite === "raw_graphql";

type Params = Readonly<Record<string, unknown>>;

interface Worse {
  readonly action: string;
  /** A parameter, or a field inside one; `[]` stands for each entry of a list. */
  readonly param: string;
  /** The value that makes it worse; absent = any, but nothing and an empty list. */
  readonly value?: unknown;
  /** What the call does then, as the end of "… : ". */
  readonly does: string;
}

const OVERWRITES = "branches of the same name are overwritten where they have changed here";
const LOOSENS = "groups that cannot be seen are taken out of the rule";

/** Arguments that make a write destroy something. A row can only make a call worse, never milder. */
export const WORSE_CALLS: readonly Worse[] = [
  { action: "commit.create", param: "force", value: true, does: "with force the branch is overwritten and its own commits are lost" },
  { action: "commit.create", param: "actions[].action", value: "delete", does: "it deletes files" },
  { action: "commit.edit", param: "delete_files", does: "it deletes files" },
  { action: "snippet.update", param: "files[].action", value: "delete", does: "it deletes files of the snippet" },
  { action: "job.cancel", param: "force", value: true, does: "with force the job ends at once, whatever it is in the middle of" },
  { action: "project.update", param: "mirror_overwrites_diverged_branches", value: true, does: OVERWRITES },
  { action: "pull_mirror.update", param: "mirror_overwrites_diverged_branches", value: true, does: OVERWRITES },
  { action: "project.update", param: "ci_delete_pipelines_in_seconds", does: "old pipelines are deleted from then on" },
  {
    action: "project.update",
    param: "container_expiration_policy_attributes.enabled",
    value: true,
    does: "tags of images are deleted from then on",
  },
  { action: "protected_branch.update", param: "allow_force_push", value: true, does: "it opens what was guarded" },
  { action: "approval_rule.update", param: "remove_hidden_groups", value: true, does: LOOSENS },
  { action: "approval_settings_rule.update", param: "remove_hidden_groups", value: true, does: LOOSENS },
  { action: "merge_request.approval_rule_update", param: "remove_hidden_groups", value: true, does: LOOSENS },
  { action: "member.state_update", param: "state", value: "awaiting", does: "it shuts the person out" },
  {
    action: "application.settings_update",
    param: "delete_inactive_projects",
    value: true,
    does: "unused projects are deleted from then on",
  },
  { action: "application.settings_update", param: "delete_unconfirmed_users", value: true, does: "users are deleted from then on" },
];

/** Fields by which a part of a thing is deleted in an update of the whole. */
const DELETING_FIELDS: ReadonlySet<string> = new Set(["_destroy", "destroy"]);
const DELETES_PART = "it deletes a part of it";

const isObject = (value: unknown): value is Params => typeof value === "object" && value !== null && !Array.isArray(value);

function valuesAt(value: unknown, path: readonly string[]): readonly unknown[] {
  const [first, ...rest] = path;
  if (first === undefined) return [value];
  // A list may come as an object by number.
  if (first === "[]") return Array.isArray(value) || isObject(value) ? Object.values(value).flatMap((item) => valuesAt(item, rest)) : [];
  // Requests written by hand may write one object as a list of its fields.
  if (Array.isArray(value)) return value.flatMap((item) => valuesAt(item, path));
  return isObject(value) ? valuesAt(value[first], rest) : [];
}

export const pathOf = (param: string): readonly string[] => param.replaceAll("[]", ".[]").split(".");

const isNothing = (value: unknown) => value === undefined || value === null || value === "" || (Array.isArray(value) && value.length === 0);

/** A switch as GitLab reads it: requests written by hand bring them as texts. */
export const isOn = (value: unknown): boolean => !isNothing(value) && !/^(false|f|off|no|n|0)$/i.test(String(value).trim());

function isMeant(value: unknown, expected: unknown): boolean {
  if (expected === undefined) return !isNothing(value);
  return expected === true ? isOn(value) : String(value).trim().toLowerCase() === String(expected);
}

function deletesPart(value: unknown, depth = 0): boolean {
  if (Array.isArray(value)) return value.some((item) => deletesPart(item, depth + 1));
  if (!isObject(value)) return false;
  return Object.entries(value).some(
    ([key, inner]) => (depth > 0 && DELETING_FIELDS.has(key) && isMeant(inner, true)) || deletesPart(inner, depth + 1),
  );
}

export interface CallEffect {
  readonly effect: Effect;
  /** Why it is more than the row says. */
  readonly does?: string;
}

/** What this one call does, judged by its params: at least what the row says. */
export function effectOfCall(action: Action, params: Params): CallEffect {
  if (action.effect !== "write") return { effect: action.effect };
  const worse = WORSE_CALLS.find(
    (row) => row.action === action.id && valuesAt(params, pathOf(row.param)).some((value) => isMeant(value, row.value)),
  );
  const does = worse?.does ?? (action.source === "gitlab" && deletesPart(params) ? DELETES_PART : undefined);
  return does === undefined ? { effect: action.effect } : { effect: "destructive", does };
}
