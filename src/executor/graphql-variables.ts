import { type DocumentNode, Kind, parse, type TypeNode } from "graphql";
import type { Action, Call, Param } from "../catalog/types.ts";
import { BridgeError } from "../errors.ts";

type Plain = Readonly<Record<string, unknown>>;

/** A project or group as GitLab knows it: number and full path. */
export interface Place {
  readonly id: number;
  readonly path: string;
}

/** Asks GitLab for a project or group, by number or full path. */
export type FindPlace = (kind: "project" | "group", place: string) => Promise<Place>;

interface Variable {
  readonly required: boolean;
}

const documents = new Map<string, DocumentNode>();

/** A document, parsed once. */
export function parseDocument(document: string): DocumentNode {
  const known = documents.get(document);
  if (known) return known;
  const parsed = parse(document, { noLocation: true });
  documents.set(document, parsed);
  return parsed;
}

const isRequired = (type: TypeNode) => type.kind === Kind.NON_NULL_TYPE;

function variablesOf(document: string): ReadonlyMap<string, Variable> {
  const operation = parseDocument(document).definitions.find((node) => node.kind === Kind.OPERATION_DEFINITION);
  const definitions = operation?.kind === Kind.OPERATION_DEFINITION ? (operation.variableDefinitions ?? []) : [];
  return new Map(definitions.map(({ variable, type }) => [variable.name.value, { required: isRequired(type) }]));
}

const wireOf = (name: string, param: Param) => param.wire ?? name;

/** Kinds of global ids that a project's or group's path can stand for too. */
const PLACES: Readonly<Record<string, "project" | "group">> = { Project: "project", Group: "group", Namespace: "group" };

const isNumber = (text: string) => /^\d+$/.test(text);

async function toGid(value: unknown, type: string, find: FindPlace): Promise<unknown> {
  if (Array.isArray(value)) return Promise.all(value.map((item) => toGid(item, type, find)));
  const text = String(value);
  if (text.startsWith("gid://")) return text;
  const kind = PLACES[type];
  const id = kind && !isNumber(text) ? (await find(kind, text)).id : text;
  return `gid://gitlab/${type}/${id}`;
}

/** Numbers in place of a path are looked up: GraphQL knows projects and groups by their full path only. */
async function toPath(name: string, value: unknown, find: FindPlace): Promise<unknown> {
  const text = String(value);
  return isNumber(text) ? (await find(name.startsWith("group") ? "group" : "project", text)).path : text;
}

async function toValue(name: string, param: Param, value: unknown, find: FindPlace): Promise<unknown> {
  if (param.gid !== undefined) return toGid(value, param.gid, find);
  return param.format === "full_path" ? toPath(name, value, find) : value;
}

function put(target: Record<string, unknown>, path: readonly string[], value: unknown): void {
  const [head = "", ...rest] = path;
  if (rest.length === 0) target[head] = value;
  else {
    const inner = (target[head] ?? {}) as Record<string, unknown>;
    target[head] = inner;
    put(inner, rest, value);
  }
}

const refuse = (action: Pick<Action, "id">, names: readonly string[], why: string) =>
  new BridgeError("invalid_params", `${action.id}: ${why}`, `Nothing was sent. Give exactly one of: ${names.join(", ")}.`, {
    fields: Object.fromEntries(names.slice(0, 1).map((name) => [name, why])),
  });

/** Parameters that stand for the same variable (`project_id`, `group_id`): one of them, and one where GitLab needs it. */
function checkChoices(action: Action, params: Plain, variables: ReadonlyMap<string, Variable>): void {
  const wires = new Map<string, string[]>();
  for (const [name, param] of Object.entries(action.params))
    wires.set(wireOf(name, param), [...(wires.get(wireOf(name, param)) ?? []), name]);
  for (const [wire, names] of wires) {
    if (names.length < 2) continue;
    const given = names.filter((name) => params[name] !== undefined);
    if (given.length > 1) throw refuse(action, names, `takes ${names.join(" or ")}, not both`);
    const needed = variables.get(wire)?.required ?? wire.startsWith("input.");
    if (given.length === 0 && needed) throw refuse(action, names, `needs ${names.join(" or ")}`);
  }
}

/** A thing that can be named in several ways: as this document needs it, or as a twin of it does. */
function checkNamed({ id, params: known, documents }: Action, params: Plain, variables: ReadonlyMap<string, Variable>): void {
  if (!documents) return;
  const given = new Set(Object.entries(known).flatMap(([name, param]) => (params[name] === undefined ? [] : [wireOf(name, param)])));
  const missing = [...variables].find(([wire, { required }]) => required && !given.has(wire))?.[0];
  const name = Object.entries(known).find(([one, param]) => wireOf(one, param) === missing)?.[0];
  const ways = name === undefined ? [] : [name, ...Object.keys(documents)];
  if (ways.length > 0) throw refuse({ id }, ways, `needs ${ways.join(" or ")}`);
}

/**
 * The variables of a row's document, made from a call's params: global ids from plain ones, full paths, nested inputs.
 * @throws BridgeError invalid_params where none or several of the params that stand for one variable are given.
 */
export async function toVariables({ action, params }: Pick<Call, "action" | "params">, document: string, find: FindPlace): Promise<Plain> {
  const declared = variablesOf(document);
  checkNamed(action, params, declared);
  checkChoices(action, params, declared);
  const variables: Record<string, unknown> = {};
  for (const [name, value] of Object.entries(params)) {
    const param = action.params[name];
    if (!param || value === undefined || value === null) continue;
    const path = wireOf(name, param).split(".");
    // A twin of the document knows the thing by another name only.
    if (action.documents && !declared.has(path[0] ?? "")) continue;
    put(variables, path, await toValue(name, param, value, find));
  }
  return variables;
}

/** Whether the document asks for one page of a longer list. */
export const isPagedDocument = (document: string): boolean => variablesOf(document).has("after");
