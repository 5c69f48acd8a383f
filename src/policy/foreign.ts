import type { Action, JsonSchema } from "../catalog/types.ts";

/** What an argument of another server's tool names. `either`: a full path that may be a project's or a group's. */
export type ForeignKind = "project" | "group" | "either" | "address";

export interface ForeignPlace {
  readonly name: string;
  readonly kind: ForeignKind;
  readonly value: string;
}

export interface ForeignReading {
  readonly places: readonly ForeignPlace[];
  /** The first argument whose reach cannot be known. */
  readonly unknown?: string;
}

type Json = Readonly<Record<string, unknown>>;

const isObject = (value: unknown): value is Json => typeof value === "object" && value !== null && !Array.isArray(value);

/** `projectId`, `Project-ID` and `project_id` are one name. */
export const fold = (name: string): string =>
  name
    .replace(/([a-z0-9])([A-Z])/g, "$1_$2")
    .replace(/[^A-Za-z0-9]+/g, "_")
    .toLowerCase();

const SUFFIX = "(_(full_?)?(ids?|paths?|names?|slugs?|refs?|with_namespace))?";
const NAMED: readonly (readonly [pattern: RegExp, kind: ForeignKind])[] = [
  [new RegExp(`(^|_)(project|projects|repo|repos|repository|repositories|fork)${SUFFIX}$`), "project"],
  [new RegExp(`(^|_)(sub)?(group|groups)${SUFFIX}$`), "group"],
  [new RegExp(`(^|_)(namespaces?|container|full_?paths?|owner)${SUFFIX}$`), "either"],
  [/^path_with_namespace$/, "either"],
  [/(^|_)(url|uri|href|link|links|urls)$/, "address"],
];

/** Text that people read: a path or an address in it leads the tool nowhere. */
const TEXT =
  /(^|_)(title|description|body|notes?|message|content|contents|text|comment|search|query|term|summary|old_str|new_str|name|labels?)$/;

/** Ids of things that GitLab looks up below the project or group of the call, or that are people. */
const BELOW =
  /(^|_)(user|assignee|reviewer|author|member|approver|creator|merge_user|pipeline|job|bridge|artifact|schedule|trigger|discussion|thread|note|draft|commit|branch|tag|environment|deployment|release|milestone|label|iteration|cadence|rule|status|type|board|list|flag|variable|badge|request|session|correlation|idempotency)_ids?$/;

/** Kinds behind a global id that lead to no other project. */
const HARMLESS = /^(User|Label|ProjectLabel|GroupLabel|Milestone|Iteration|Discussion|Note|DiffNote|DiscussionNote|WorkItems::.+|Ci::.+)$/;

const ADDRESS = /^(https?|ssh|git(\+ssh)?):\/\/\S+$|^[\w.-]+@[\w.-]+:(?!\/\/)\S+$/i;
const REFERENCE = /^([\w.-]+(?:\/[\w.-]+)+)[#!&$~%]\d+$/;

const kindOfName = (name: string): ForeignKind | undefined => NAMED.find(([pattern]) => pattern.test(name))?.[1];

/** A plain `id` names what its own description says: GitLab's tools call the project that. */
function kindOfId(schema: JsonSchema | undefined): ForeignKind | undefined {
  const properties = isObject(schema?.properties) ? schema.properties : {};
  const about = isObject(properties.id) && typeof properties.id.description === "string" ? properties.id.description.toLowerCase() : "";
  if (/\bproject\b/.test(about)) return /\bgroup\b/.test(about) ? "either" : "project";
  return /\bgroup\b/.test(about) ? "group" : undefined;
}

/** A global id, taken apart; its kind alone says whether it can be judged. */
function byGlobalId(name: string, value: string): ForeignReading | undefined {
  const [, type = "", id = ""] = /^gid:\/\/[^/]+\/([^/]+)\/([^/?]+)/i.exec(value) ?? [];
  if (type === "") return undefined;
  if (/^(Project|Group|Namespace)$/.test(type)) return { places: [{ name, kind: type === "Project" ? "project" : "group", value: id }] };
  return HARMLESS.test(type) ? { places: [] } : { places: [], unknown: name };
}

/** Whether a name that no rule of ours knows holds an id of the whole instance. */
const isGlobalId = (name: string) => /(^|_)ids?$/.test(name) && !BELOW.test(name);

/** JSON in a text is read like the value it stands for. */
function parsed(text: string): unknown {
  if (!/^\s*[[{]/.test(text)) return undefined;
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

function readText(name: string, value: string, kind: ForeignKind | undefined): ForeignReading {
  const text = value.trim();
  if (text === "") return { places: [] };
  const gid = byGlobalId(name, text);
  if (gid) return gid;
  if (ADDRESS.test(text)) return { places: [{ name, kind: "address", value: text }] };
  if (kind === "address") return { places: [], unknown: name };
  if (kind) return { places: [{ name, kind, value: text }] };
  const path = REFERENCE.exec(text)?.[1];
  if (path !== undefined) return { places: [{ name, kind: "either", value: path }] };
  return isGlobalId(name) ? { places: [], unknown: name } : { places: [] };
}

function readValue(name: string, value: unknown, kind: ForeignKind | undefined): ForeignReading {
  if (Array.isArray(value)) return joined(value.map((item) => readValue(name, item, kind)));
  if (isObject(value)) return readObject(value, undefined);
  if (typeof value === "number" || typeof value === "bigint") {
    // Zero is how some models say "none".
    if (Number(value) === 0) return { places: [] };
    if (kind && kind !== "address") return { places: [{ name, kind, value: String(value) }] };
    return isGlobalId(name) ? { places: [], unknown: name } : { places: [] };
  }
  if (typeof value !== "string" || (TEXT.test(name) && !kind)) return { places: [] };
  const inner = parsed(value);
  return inner === undefined ? readText(name, value, kind) : readValue(name, inner, kind);
}

function joined(all: readonly ForeignReading[]): ForeignReading {
  const unknown = all.find((one) => one.unknown !== undefined)?.unknown;
  return { places: all.flatMap(({ places }) => places), ...(unknown === undefined ? {} : { unknown }) };
}

const readObject = (value: Json, schema: JsonSchema | undefined): ForeignReading =>
  joined(
    Object.entries(value).map(([key, inner]) => {
      const name = fold(key);
      return readValue(name, inner, name === "id" ? kindOfId(schema) : kindOfName(name));
    }),
  );

/** The places that the arguments of a call name, at any depth, and the first that could lead anywhere. */
export const readForeign = (action: Action, params: Json): ForeignReading => readObject(params, action.schema);

const DEEPEST = 6;

function namesOf(schema: unknown, depth: number): readonly string[] {
  if (depth > DEEPEST) return [];
  if (Array.isArray(schema)) return schema.flatMap((one) => namesOf(one, depth + 1));
  if (!isObject(schema)) return [];
  const own = isObject(schema.properties) ? Object.entries(schema.properties) : [];
  const parts = [schema.items, schema.anyOf, schema.oneOf, schema.allOf, isObject(schema.$defs) ? Object.values(schema.$defs) : undefined];
  return [
    ...own.flatMap(([name, value]) => [fold(name), ...namesOf(value, depth + 1)]),
    ...parts.flatMap((one) => namesOf(one, depth + 1)),
  ];
}

/** Arguments that choose what a tool does: in some of it the project may not count. */
const SELECTOR = /^(action|operation|op|method|command|mode)$/;

/** Whether no call of a tool is possible without a place. */
function needsPlace(schema: JsonSchema | undefined): boolean {
  const required = Array.isArray(schema?.required) ? schema.required : [];
  return required.some((name) => typeof name === "string" && (name === "id" ? kindOfId(schema) : kindOfName(fold(name))) !== undefined);
}

/** Whether a tool does several things and needs a project for none of them. */
function mayIgnorePlace(schema: JsonSchema | undefined): boolean {
  const names = isObject(schema?.properties) ? Object.keys(schema.properties) : [];
  return names.some((name) => SELECTOR.test(fold(name))) && !needsPlace(schema);
}

/**
 * Whether a call means nothing without the place that it names: the tool asks for one, the number of a thing counts inside a project
 * only, an address leads to one thing. Any other call could be answered from anywhere. An argument that the tool does not know says nothing.
 */
export function isBound({ schema }: Action, params: Json): boolean {
  const known = isObject(schema?.properties) ? schema.properties : {};
  const binds = (name: string, value: unknown) =>
    value !== null && value !== "" && (/(^|_)iid$/.test(name) || (kindOfName(name) === "address" && ADDRESS.test(String(value).trim())));
  return needsPlace(schema) || Object.entries(params).some(([name, value]) => Object.hasOwn(known, name) && binds(fold(name), value));
}

const canName = (schema: JsonSchema | undefined): boolean =>
  !mayIgnorePlace(schema) && (kindOfId(schema) !== undefined || namesOf(schema, 0).some((name) => kindOfName(name) !== undefined));

/** Every list and search asks for every tool. */
const answers = new WeakMap<JsonSchema, boolean>();

/** Whether a tool of another server has an argument that can name a project or group: the others cannot be limited to some. */
export function canNamePlace({ schema }: Action): boolean {
  if (!schema) return false;
  const known = answers.get(schema) ?? canName(schema);
  answers.set(schema, known);
  return known;
}
