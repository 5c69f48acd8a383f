import type { Json } from "../types.ts";
import type { Param } from "./heuristic-offers.ts";
import { type Fields, rank, stem, stemsOf, wordsOf } from "./heuristic-words.ts";

/** An object from an earlier result, with the stems of the name of what gave it. */
export interface Known {
  readonly from: ReadonlySet<string>;
  readonly fields: Readonly<Json>;
}

const isObject = (value: unknown): value is Json => typeof value === "object" && value !== null && !Array.isArray(value);

/** Names of fields that say which object is meant. */
const IDENTITY = ["iid", "id", "name", "sha", "path_with_namespace", "full_path", "path", "slug", "key", "username", "tag_name", "title"];

/** The objects of a result that can be referred to, in their order; not more than can be weighed. */
export function knownOf(json: unknown, source: string): Known[] {
  const from = new Set(wordsOf(source).map(stem));
  const found: Known[] = [];
  const visit = (value: unknown): void => {
    if (found.length >= 300) return;
    if (Array.isArray(value)) value.forEach(visit);
    else if (isObject(value)) {
      if (IDENTITY.some((key) => typeof value[key] === "string" || typeof value[key] === "number")) found.push({ from, fields: value });
      for (const one of Object.values(value)) if (Array.isArray(one)) visit(one);
    }
  };
  visit(json);
  return found;
}

const toCell = (text: string): string | number | boolean | undefined => {
  const cell = text.trim();
  if (/^\d{1,15}$/.test(cell)) return Number(cell);
  return cell === "true" || cell === "false" ? cell === "true" : cell === "" ? undefined : cell;
};

/** The objects that a text shows: rows of a table whose first line names the columns, and fields as `name: value`. */
export function recordsOf(text: string): Json[] {
  const rows: Json[] = [];
  const fields: Json = {};
  let columns: readonly string[] = [];
  for (const line of text.split("\n")) {
    const cells = line.split("|").map((cell) => cell.trim());
    if (cells.length > 1 && cells.length === columns.length) {
      rows.push(Object.fromEntries(columns.map((name, index) => [name, toCell(cells[index] ?? "")])));
      continue;
    }
    columns = cells.length > 1 && cells.every((cell) => /^[a-z]\w*$/i.test(cell)) ? cells : [];
    const [, name, value = ""] = /^([a-z][a-z_]*): (.+)$/.exec(line) ?? [];
    if (name !== undefined && fields[name] === undefined) fields[name] = toCell(value);
  }
  return Object.keys(fields).length > 0 ? [...rows, fields] : rows;
}

/** The stems of what a parameter names: `pipeline_schedule_id` → pipeline, schedule. */
export const nounOf = (name: string): string[] =>
  wordsOf(name)
    .filter((word) => !["id", "iid", "ids", "iids", "number", "full", "global"].includes(word))
    .map(stem);

const texts = (fields: Readonly<Json>): string =>
  Object.values(fields)
    .flatMap((value): string[] =>
      typeof value === "string" ? [value] : Array.isArray(value) ? value.filter((one) => typeof one === "string") : [],
    )
    .join(" ")
    .slice(0, 1_500);

/** The field of an object that fills a parameter: of the same name, else the id that the parameter's name asks for, else its name. */
function fieldFor(param: Param, fields: Readonly<Json>): string | number | undefined {
  const words = wordsOf(param.name);
  const wanted =
    words.includes("iid") || words.includes("iids")
      ? ["iid"]
      : words.includes("id") || words.includes("ids")
        ? ["id", "iid"]
        : words.includes("sha")
          ? ["sha", "id"]
          : ["name", "tag_name", "slug", "key", "username", "title"];
  const named = [
    param.name,
    ...(words.includes("project") ? ["path_with_namespace"] : []),
    ...(words.includes("group") ? ["full_path"] : []),
    ...wanted,
  ];
  const whole = param.type === "integer" || param.type === "number" || param.item === "integer";
  for (const key of named) {
    const value = fields[key];
    if (typeof value === "number" && param.type !== "string") return value;
    if (typeof value === "number") return String(value);
    if (typeof value === "string" && value !== "" && (!whole || /^\d+$/.test(value))) return whole ? Number(value) : value;
  }
  return undefined;
}

export interface Pick {
  readonly value: string | number;
  /** Whether the words of the request point at this object, and not only its kind. */
  readonly sure: boolean;
}

/**
 * The value of a parameter from the objects that earlier results held: of those of the right kind, the one that is most like the
 * request; the first where none is. Without a request that tells them apart, it is not sure unless there is only one.
 */
export function recall(
  param: Param,
  noun: readonly string[],
  query: ReadonlyMap<string, number>,
  known: readonly Known[],
): Pick | undefined {
  const last = noun.at(-1);
  const fit = known.flatMap((one) => {
    const value =
      last === undefined || one.from.has(last) || one.fields[param.name] !== undefined ? fieldFor(param, one.fields) : undefined;
    return value === undefined ? [] : [{ ...one, value }];
  });
  if (fit.length === 0) return undefined;
  const fields = fit.map(({ fields }): Fields => [[texts(fields), 1]]);
  const likeness = rank(query, fields);
  const best = likeness.reduce((top, score, index) => (score > (likeness[top] ?? 0) ? index : top), 0);
  const chosen = fit[best];
  return chosen && { value: chosen.value, sure: fit.length === 1 || (likeness[best] ?? 0) > 0 };
}

/** The kind of thing that an offer is about, by its name and title. */
export const kindStems = (name: string, title: string): string[] => stemsOf(`${name} ${title}`);
