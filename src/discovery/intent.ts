import type { Action, Effect } from "../catalog/types.ts";

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

export interface DocVerb {
  readonly verb: VerbClass;
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
  if (named) return { verb: CLASSES[named] ?? "act", words: [...new Set([named, CLASSES[tool] ? tool : named])], specific: false };
  const verb = CLASSES[tool];
  if (verb) return { verb, words: [tool], specific: false };
  return { verb: "act", words: [...new Set([...parts, tool])], specific: true };
}

/** How well an action of a class answers a wish of a class; rows are wishes. */
const FIT: Readonly<Record<VerbClass, Readonly<Record<VerbClass, number>>>> = {
  list: { list: 1, get: 0.7, create: 0.4, update: 0.4, delete: 0.2, act: 0.6 },
  get: { list: 0.86, get: 1, create: 0.4, update: 0.4, delete: 0.2, act: 0.6 },
  create: { list: 0.45, get: 0.45, create: 1, update: 0.62, delete: 0.2, act: 0.75 },
  update: { list: 0.45, get: 0.45, create: 0.62, update: 1, delete: 0.2, act: 0.8 },
  delete: { list: 0.45, get: 0.45, create: 0.3, update: 0.4, delete: 1, act: 0.6 },
  // The action whose own verb was said is judged apart.
  act: { list: 0.7, get: 0.7, create: 0.7, update: 0.7, delete: 0.3, act: 0.7 },
};

/** Without any verb reading is likelier than changing. */
const UNSAID: Readonly<Record<VerbClass, number>> = { list: 1, get: 0.94, create: 0.72, update: 0.72, delete: 0.4, act: 0.8 };

export interface Wish {
  readonly verbs: ReadonlySet<string>;
  /** A question word: the answer is to be read. */
  readonly asks: boolean;
  /** The resource is named in the plural. */
  readonly plural: boolean;
}

/** Factor for an action of a class and effect under a wish. */
export function fitOf(verb: VerbClass, effect: Effect, wish: Wish): number {
  let fit = 0;
  for (const said of wish.verbs) {
    const row = FIT[said as VerbClass];
    if (!row) continue;
    const act = effect === "read" ? (said === "list" || said === "get" ? 0.95 : 0.6) : said === "list" || said === "get" ? 0.4 : row.act;
    fit = Math.max(fit, verb === "act" ? act : row[verb]);
  }
  if (wish.verbs.size === 0) fit = verb === "act" && effect === "read" ? 0.95 : UNSAID[verb];
  if (wish.asks && effect !== "read") fit *= 0.6;
  if (wish.plural && verb === "get" && !wish.verbs.has("create")) fit *= 0.85;
  if (wish.plural && verb === "list" && wish.verbs.has("get")) fit = Math.max(fit, 1);
  return fit;
}
