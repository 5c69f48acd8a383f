import { type Context, gid, idOf, levelIn, ownerOf, type Place, requirePlace, requireWriter, unavailable } from "./graphql-context.ts";
import { addRow, findRow, type Row, removeRow, rowsOf } from "./graphql-store.ts";
import { type Json, ROLE, type World } from "./types.ts";

export type Input = Readonly<Record<string, unknown>>;
export type Mutation = (input: Input, context: Context) => Json;

/** A mutation that makes, changes or removes one row, as data. */
export interface Rule {
  readonly type: string;
  readonly does: "add" | "change" | "remove" | "none";
  /** Field of the payload that shows the row. */
  readonly shows?: string;
  /** Input that names the row; `iid` and `uuid` are looked up as fields. */
  readonly by?: string;
  /** Input that names the place or the thing that the row belongs to. */
  readonly owner?: string;
  /** Input that holds the fields. */
  readonly from?: string;
  readonly set?: (input: Input, context: Context) => Json;
  readonly role?: number;
}

const PLACED = ["projectPath", "fullPath", "groupPath", "namespacePath"];

/** The project or group of a global id. */
export function placeById({ world }: Context, id: unknown): Place | undefined {
  const number = Number(idOf(id));
  const kind = String(id).split("/").at(-2);
  const project = kind === "Project" ? world.projects.find((row) => row.id === number) : undefined;
  if (project) return { kind: "project", row: project };
  const group = kind === "Project" ? undefined : world.groups.find((row) => row.id === number);
  return group && { kind: "group", row: group };
}

/** Who owns the row: checked to be there, and the caller to be allowed. */
function ownerFor(input: Input, rule: Rule, context: Context): string | undefined {
  const named = PLACED.find((name) => input[name] !== undefined && input[name] !== null);
  if (named) return ownerOf(requirePlace(context, input[named], rule.role));
  const id = rule.owner === undefined ? undefined : input[rule.owner];
  if (id === undefined) return undefined;
  if (/\/(Project|Group|Namespace)\/\d+$/.test(String(id))) return ownerOf(allowed(context, placeById(context, id), rule.role));
  return String(id);
}

export function allowed(context: Context, place: Place | undefined, role: number = ROLE.guest): Place {
  if (!place || levelIn(context, place) < role) throw unavailable();
  return place;
}

/** The place that a row lies in, through the things that own it. */
function placeOfRow(context: Context, row: Row): Place | undefined {
  const { world } = context;
  const [kind, id] = String(row.owner ?? "").split(":");
  if (kind === "project" || kind === "group") return placeById(context, gid(kind === "project" ? "Project" : "Group", id ?? ""));
  const above = ["Achievement", "SecurityCategory", "WorkItemSavedViewType"]
    .map((type) => findRow(world, type, row.owner))
    .find((found) => found?.id === row.owner);
  return above && placeOfRow(context, above);
}

function requireRow(input: Input, rule: Rule, context: Context): Row {
  const by = rule.by ?? "id";
  const owner = ownerFor(input, { ...rule, ...(rule.does === "add" ? {} : { owner: "none" }) }, context);
  const rows = rowsOf(context.world, rule.type).filter((row) => owner === undefined || row.owner === owner);
  const row =
    by === "iid" || by === "uuid"
      ? rows.find((one) => String(one[by]) === String(input[by]))
      : rows.find((one) => idOf(one.id) === idOf(input[by]));
  const place = row && placeOfRow(context, row);
  if (!row || (place && levelIn(context, place) < (rule.role ?? ROLE.guest))) throw unavailable();
  return row;
}

const IGNORED = new Set(["id", "clientMutationId", ...PLACED]);

/** Fields of an input, as a row keeps them. */
function fieldsOf(input: Input, rule: Rule, context: Context): Json {
  const given = (rule.from === undefined ? input : (input[rule.from] as Input)) ?? {};
  const plain = Object.entries(given).filter(
    ([name, value]) => !IGNORED.has(name) && name !== rule.by && name !== rule.owner && value !== undefined,
  );
  return { ...Object.fromEntries(plain), ...rule.set?.(input, context) };
}

function blank(fields: Json): string | undefined {
  const empty = ["name", "title"].find((name) => fields[name] !== undefined && String(fields[name]).trim() === "");
  return empty && `${empty[0]?.toUpperCase()}${empty.slice(1)} can't be blank`;
}

function taken(world: World, rule: Rule, fields: Json, owner: string | undefined): string | undefined {
  if (fields.name === undefined) return undefined;
  const twin = rowsOf(world, rule.type).some((row) => row.owner === owner && String(row.name) === String(fields.name));
  return twin ? "Name has already been taken" : undefined;
}

/** Runs a rule. */
export const mutationOf =
  (rule: Rule): Mutation =>
  (input, context) => {
    requireWriter(context);
    const { world } = context;
    const shown = (row: Row | null, errors: readonly string[] = []) => ({
      ...(rule.shows ? { [rule.shows]: row } : {}),
      ...(row ? { ...row } : {}),
      errors,
    });
    if (rule.does === "none") {
      ownerFor(input, rule, context);
      return { errors: [] };
    }
    if (rule.does === "add") {
      const owner = ownerFor(input, rule, context);
      const fields = fieldsOf(input, rule, context);
      const refusal = blank(fields) ?? taken(world, rule, fields, owner);
      return refusal ? shown(null, [refusal]) : shown(addRow(world, rule.type, fields, owner));
    }
    const row = requireRow(input, rule, context);
    if (rule.does === "remove") {
      removeRow(world, rule.type, row);
      return shown(row);
    }
    const fields = fieldsOf(input, rule, context);
    const refusal = blank(fields);
    if (refusal) return shown(null, [refusal]);
    Object.assign(row, fields, { updatedAt: world.now() });
    return shown(row);
  };
