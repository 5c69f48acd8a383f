import { placeholders, routesOf, scopeOf } from "./route.ts";
import { type SpecField, type SpecOperation, type SpecShape, skeletonOf } from "./spec.ts";
import type { Action, Param, Route, Shape } from "./types.ts";

/** `missing`: the document has it, no row does. `gone`: a row has it, the document does not. */
export type SpecKind = "missing" | "changed" | "gone";

export type Aspect = "operation" | "unknown" | "undeclared" | "absent" | "place" | "type" | "items" | "values" | "required" | "list";

/** One difference between rows and document. `key` names it in the data files that say why it is right. */
export interface SpecFinding {
  readonly kind: SpecKind;
  readonly aspect: Aspect;
  readonly key: string;
  readonly text: string;
  readonly row?: Action;
  /** Parameter or field, as a path (`not.labels`). */
  readonly name?: string;
  readonly ours?: Shape;
  readonly theirs?: SpecShape;
  readonly operation?: SpecOperation;
}

interface Met {
  readonly route: Route;
  readonly scope: string;
  readonly operation: SpecOperation;
}

type Make = (aspect: Aspect, name: string, text: string, more?: Partial<SpecFinding>) => SpecFinding;

const changed =
  (row: Action): Make =>
  (aspect, name, text, more = {}) => ({
    kind: aspect === "absent" ? "missing" : aspect === "unknown" ? "gone" : "changed",
    aspect,
    key: `${row.id} ${name} ${aspect}`,
    text: `${row.id} ${name}: ${text}`,
    row,
    name,
    ...more,
  });

const typeOf = (shape: Shape): string => (shape.format === "binary" ? "file" : shape.type);

/** Whether a value of our type is understood where the document says `types`. */
function fits(ours: string, types: readonly string[]): boolean {
  return types.length === 0 || types.includes(ours) || types.includes("any") || (ours === "integer" && types.includes("number"));
}

const sameSet = (left: readonly string[], right: readonly string[]) =>
  left.every((one) => right.includes(one)) && right.every((one) => left.includes(one));

function compareValues(make: Make, name: string, ours: Shape, theirs: readonly SpecShape[]): SpecFinding[] {
  if (ours.type !== "string") return [];
  const allowed = [...new Set(theirs.flatMap((one) => one.enum))].filter((value) => value !== "");
  if (sameSet(ours.enum ?? [], allowed)) return [];
  const [first] = theirs;
  return [
    make("values", name, `values ${ours.enum?.join("|") ?? "any"}; document ${allowed.join("|") || "any"}`, {
      ours,
      ...(first ? { theirs: first } : {}),
    }),
  ];
}

function compareShape(make: Make, name: string, ours: Shape, theirs: readonly SpecShape[]): SpecFinding[] {
  const type = typeOf(ours);
  const other = theirs.find((one) => !fits(type, one.types));
  if (other) return [make("type", name, `${type}; document ${other.types.join("|")}`, { ours, theirs: other })];
  if (ours.type === "array") {
    const items = theirs.flatMap((one) => (one.items ? [one.items] : []));
    const wrong = ours.items ? items.find((one) => !fits(typeOf(ours.items as Shape), one.types)) : undefined;
    if (wrong) return [make("items", name, `items ${ours.items?.type}; document ${wrong.types.join("|")}`, { ours, theirs: wrong })];
    return items.length > 0 && ours.items ? compareShape(make, name, ours.items, items) : [];
  }
  if (ours.type === "object")
    return compareFields(
      make,
      name,
      ours.properties ?? {},
      theirs.map((one) => one.fields),
    );
  return compareValues(make, name, ours, theirs);
}

type Fields = Readonly<Record<string, SpecField>>;

function compareFields(make: Make, path: string, ours: Readonly<Record<string, Shape>>, theirs: readonly Fields[]): SpecFinding[] {
  if (theirs.every((fields) => Object.keys(fields).length === 0)) return [];
  const known = new Set(theirs.flatMap((fields) => Object.keys(fields)));
  const at = (name: string) => `${path}.${name}`;
  return [
    ...[...known].filter((name) => !(name in ours)).map((name) => make("absent", at(name), "in the document only")),
    ...Object.entries(ours).flatMap(([name, shape]) => {
      const own = theirs.flatMap((fields) => fields[name] ?? []);
      if (own.length === 0) return [make("unknown", at(name), "not in the document", { ours: shape })];
      return [...compareRequired(make, at(name), shape.required === true, own), ...compareShape(make, at(name), shape, own)];
    }),
  ];
}

function compareRequired(make: Make, name: string, ours: boolean, theirs: readonly SpecField[]): SpecFinding[] {
  if (theirs.every((one) => one.required) === ours) return [];
  const [first] = theirs;
  return [
    make("required", name, `${ours ? "required" : "optional"}; document ${ours ? "optional" : "required"}`, first ? { theirs: first } : {}),
  ];
}

const knows = (param: Param, scope: string) => param.on === undefined || param.on.includes(scope);

function compareParam(row: Action, name: string, param: Param, met: readonly Met[]): SpecFinding[] {
  const make = changed(row);
  const wire = param.wire ?? name;
  const knowing = met.filter(({ scope }) => knows(param, scope));
  const lacking = knowing.find(({ operation }) => !operation.rest[wire]);
  if (lacking) return [make("unknown", name, `not in ${lacking.route.join(" ")}`, { ours: param, operation: lacking.operation })];
  const fields = knowing.flatMap(({ operation }) => operation.rest[wire] ?? []);
  const misplaced = fields.find((field) => field.in !== param.in);
  return [
    ...(misplaced ? [make("place", name, `in ${param.in}; document ${misplaced.in}`, { ours: param, theirs: misplaced })] : []),
    ...compareRequired(make, name, param.required === true, fields),
    ...compareShape(make, name, param, fields),
  ];
}

function comparePath(row: Action, { route, operation }: Met): SpecFinding[] {
  const theirs = placeholders(operation.path);
  const make = changed(row);
  return placeholders(route[1]).flatMap((name, index) => {
    const field = operation.inPath[theirs[index] ?? ""];
    const ours = row.params[name];
    if (!ours || (field && fits(typeOf(ours), field.types))) return [];
    if (!field) return [make("undeclared", name, `the path parameter is not declared in ${route.join(" ")}`, { ours })];
    return [make("type", name, `${typeOf(ours)}; document ${field.types.join("|")}`, { ours, theirs: field })];
  });
}

function absentParams(row: Action, { scope, operation, route }: Met): SpecFinding[] {
  const make = changed(row);
  return Object.entries(operation.rest)
    .filter(([wire]) => {
      const own = Object.entries(row.params).find(([name, param]) => param.in !== "path" && (param.wire ?? name) === wire);
      return !own || !knows(own[1], scope);
    })
    .map(([wire, theirs]) => make("absent", wire, `in the document only: ${route.join(" ")}`, { theirs, operation }));
}

function compareList(row: Action, { operation }: Met): SpecFinding[] {
  const ours = row.returns === "array";
  if (operation.list === undefined || operation.list === ours || row.returns === "text" || row.returns === "binary") return [];
  return [changed(row)("list", "answer", `${ours ? "a list" : "no list"}; document ${ours ? "no list" : "a list"}`, { operation })];
}

const unique = (findings: readonly SpecFinding[]) => [...new Map(findings.map((one) => [one.key, one])).values()];

/** Everything in which the rows and the document differ, operation by operation, parameter by parameter. */
export function compareRows(rows: readonly Action[], operations: readonly SpecOperation[]): readonly SpecFinding[] {
  const byKey = new Map(operations.map((operation) => [skeletonOf(operation.method, operation.path), operation]));
  const used = new Set<string>();
  const findings = rows.flatMap((row): SpecFinding[] => {
    const met: Met[] = [];
    const gone: SpecFinding[] = [];
    for (const route of routesOf(row)) {
      const key = skeletonOf(...route);
      const operation = byKey.get(key);
      used.add(key);
      if (operation) met.push({ route, scope: scopeOf(row, route), operation });
      else gone.push({ kind: "gone", aspect: "operation", key: route.join(" "), text: `${row.id}: ${route.join(" ")}`, row });
    }
    if (met.length === 0) return gone;
    const params = Object.entries(row.params).filter(([, param]) => param.in !== "path");
    return [
      ...gone,
      ...met.flatMap((one) => [...comparePath(row, one), ...absentParams(row, one), ...compareList(row, one)]),
      ...params.flatMap(([name, param]) => compareParam(row, name, param, met)),
    ];
  });
  const missing = [...byKey]
    .filter(([key]) => !used.has(key))
    .map(([, operation]): SpecFinding => {
      const name = `${operation.method} ${operation.path}`;
      return { kind: "missing", aspect: "operation", key: name, text: name, operation };
    });
  return unique([...findings, ...missing]);
}
