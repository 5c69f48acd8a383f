import { placeholders, scopeOf } from "../../src/catalog/route.ts";
import type { Action, Param, Route, Shape } from "../../src/catalog/types.ts";

/** `required`: what a call cannot do without. `all`: every parameter that the route knows. `edges`: the same with awkward values. */
export type Mode = "required" | "all" | "edges";

export interface Given {
  /** As a caller writes them. */
  readonly params: Readonly<Record<string, unknown>>;
  /** As they are meant: what has to arrive. */
  readonly meant: Readonly<Record<string, unknown>>;
}

/** Pairs that say one thing in two ways: only the first is given. */
const TWICE: Readonly<Record<string, readonly string[]>> = {
  assignee_id: ["assignee_username", "assignee_ids"],
  author_id: ["author_username"],
  reviewer_id: ["reviewer_username"],
  merge_user_id: ["merge_user_username"],
  approved_by_ids: ["approved_by_usernames"],
  milestone: ["milestone_id"],
  iteration_id: ["iteration_title"],
  epic_id: ["epic_iid"],
};

const TEXT = "Ünï/cödé & more=1+2 #3? 100% “q”";
const PATHS: Readonly<Record<string, string>> = {
  project_id: "größe/sub.group/my-app.2",
  group_id: "größe/sub.group",
};
const IN_PATH = "dir.d/ü b+c%25&x=1/file.name.ts";

interface Pair {
  readonly given: unknown;
  readonly meant: unknown;
}

const same = (value: unknown): Pair => ({ given: value, meant: value });

function day(format: string | undefined, name: string): string | undefined {
  if (format === "date") return "2026-01-31";
  return format === "date-time" || /_(before|after)$/.test(name) ? "2026-01-31T10:00:00Z" : undefined;
}

function objectOf(shape: Shape, mode: Mode): Pair {
  const all = Object.entries(shape.properties ?? {});
  const needed = all.filter(([, one]) => one.required);
  const wanted = mode !== "required" ? all : needed.length > 0 ? needed : all.slice(0, 1);
  const pairs = wanted.map(([name, one]) => [name, sampleOf(one, name, mode)] as const);
  if (pairs.length === 0) return same({ key: "value" });
  return {
    given: Object.fromEntries(pairs.map(([name, { given }]) => [name, given])),
    meant: Object.fromEntries(pairs.map(([name, { meant }]) => [name, meant])),
  };
}

function sampleOf(shape: Shape, name: string, mode: Mode): Pair {
  if (shape.enum) return same(shape.enum[mode === "edges" ? shape.enum.length - 1 : 0]);
  switch (shape.type) {
    case "integer":
      return mode === "edges" ? { given: "70", meant: 70 } : same(7);
    case "number":
      return mode === "edges" ? { given: "1.5", meant: 1.5 } : same(2);
    case "boolean":
      return mode === "edges" ? { given: "false", meant: false } : same(true);
    case "array": {
      const item = sampleOf(shape.items ?? { type: "string" }, name, mode);
      return { given: [item.given], meant: [item.meant] };
    }
    case "object":
      return objectOf(shape, mode);
    default:
      if (shape.format === "binary") return same("data:text/plain;name=a.txt;base64,YQ==");
      // An id that GitLab takes as text: a name there would be looked up.
      if (mode !== "edges" && /^(assignee|reviewer|user)_id$/.test(name)) return same("7");
      return same(day(shape.format, name) ?? (mode === "edges" ? TEXT : `${name}-value`));
  }
}

function pathValue(param: Param, name: string, mode: Mode): Pair {
  if (param.enum || param.type !== "string") return sampleOf(param, name, mode);
  if (mode !== "edges") return same(name in PATHS ? "7" : "x1");
  return same(PATHS[name] ?? IN_PATH);
}

/** Arguments for one route of a row, made from its parameters. */
export function argumentsFor(row: Action, route: Route, mode: Mode): Given {
  const inPath = placeholders(route[1]);
  const scope = scopeOf(row, route);
  const knows = (param: Param) => param.on === undefined || param.on.includes(scope);
  const names = Object.keys(row.params).filter((name) => {
    const param = row.params[name] as Param;
    if (param.in === "path") return inPath.includes(name);
    return knows(param) && (mode !== "required" || param.required === true || name in (row.documents ?? {}));
  });
  const twice = new Set(names.flatMap((name) => TWICE[name] ?? []));
  const pairs = names
    .filter((name) => !twice.has(name) || inPath.includes(name))
    .map((name) => {
      const param = row.params[name] as Param;
      return [name, inPath.includes(name) ? pathValue(param, name, mode) : sampleOf(param, name, mode)] as const;
    });
  return {
    params: Object.fromEntries(pairs.map(([name, { given }]) => [name, given])),
    meant: Object.fromEntries(pairs.map(([name, { meant }]) => [name, meant])),
  };
}
