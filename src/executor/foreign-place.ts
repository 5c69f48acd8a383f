import { type ForeignPlace, fold } from "../policy/foreign.ts";
import { toFullPath } from "./identifiers.ts";
import { isPlain } from "./slim.ts";

type Plain = Readonly<Record<string, unknown>>;
type Kind = ForeignPlace["kind"];

/** Fields by which servers tell where a thing belongs, in whatever letters. Who made it, or where it came from, is not among them. */
const FIELDS: Readonly<Record<string, Kind>> = {
  project_id: "project",
  project: "project",
  project_path: "project",
  project_full_path: "project",
  project_path_with_namespace: "project",
  path_with_namespace: "project",
  repository: "project",
  repo: "project",
  full_path: "either",
  namespace: "either",
  namespace_id: "group",
  namespace_path: "either",
  namespace_full_path: "either",
  group_id: "group",
  group: "group",
  group_path: "group",
  group_full_path: "group",
  web_url: "address",
  web_path: "address",
  html_url: "address",
  url: "address",
  uri: "address",
  href: "address",
  link: "address",
};

/** Fields by which a project or group that stands inside another thing tells what it is. */
const OF_PLACE: ReadonlySet<string> = new Set(["path_with_namespace", "full_path", "id"]);

const WORD = /^[\w.-]+$/;
const PATH = /^[\w.-]+(\/[\w.-]+)+$/;

const isName = (value: unknown): value is string | number =>
  typeof value === "number" || (typeof value === "string" && value.trim() !== "");

/** Fields by their folded names; where two are written alike, both are there. */
const fieldsOf = (value: Plain): readonly (readonly [name: string, value: unknown])[] =>
  Object.entries(value).map(([key, inner]) => [key === "_links" ? key : fold(key), inner]);

/** `gid://gitlab/Project/7` is the project 7. */
const plainId = (text: string): string => /^gid:\/\/[^/]+\/\w+\/(\d+)$/.exec(text)?.[1] ?? text;

function tellOf(name: string, kind: Kind, value: unknown): readonly ForeignPlace[] {
  if (isPlain(value)) {
    if (kind === "address") return [];
    return fieldsOf(value).flatMap(([field, inner]) => (OF_PLACE.has(field) && isName(inner) ? tellOf(name, kind, inner) : []));
  }
  if (!isName(value)) return [];
  const text = plainId(String(value).trim());
  // A word alone may be the path of a group; of a project it is a name for people.
  const isPlace = /^\d+$/.test(text) || PATH.test(toFullPath(text)) || (kind !== "project" && WORD.test(text));
  // A number without a word beside it is the id of a namespace.
  const sure = kind === "either" && /^\d+$/.test(text) ? "group" : kind;
  return kind === "address" || isPlace ? [{ name, kind: sure, value: text }] : [];
}

/** `group/app#1`, `group/app!2`, `group&3`. */
function tellOfReference(value: unknown): readonly ForeignPlace[] {
  const text = isPlain(value) ? value.full : value;
  const [, path = "", mark] = (typeof text === "string" && /^([\w./-]+)([#!&])\d+$/.exec(text)) || [];
  return path.includes("/") || mark === "&" ? [{ name: "reference", kind: "either", value: path }] : [];
}

/** A project or group tells of itself by its own id too, where that says what it is the id of. */
function tellOfId(value: unknown): readonly ForeignPlace[] {
  const [, type, number = ""] = (typeof value === "string" && /^gid:\/\/[^/]+\/(Project|Group)\/(\d+)$/.exec(value)) || [];
  return type === undefined ? [] : [{ name: "id", kind: type === "Project" ? "project" : "group", value: number }];
}

const tellOfLinks = (value: unknown): readonly ForeignPlace[] =>
  isPlain(value) ? [value.self, value.project].flatMap((link) => tellOf("_links", "address", link)) : [];

/** Every place that an object of another server's answer says it belongs to: nobody vouches that it agrees with itself. */
export function tellsOf(object: Plain): readonly ForeignPlace[] {
  return fieldsOf(object).flatMap(([name, value]) => {
    if (/^(full_)?references?$/.test(name)) return tellOfReference(value);
    if (name === "id") return tellOfId(value);
    if (name === "_links") return tellOfLinks(value);
    const kind = Object.hasOwn(FIELDS, name) ? FIELDS[name] : undefined;
    return kind ? tellOf(name, kind, value) : [];
  });
}
