import type { Behaviour, Method } from "./types.ts";

export interface Match {
  readonly behaviour: Behaviour;
  readonly params: Readonly<Record<string, string>>;
}

export interface Router {
  match(method: Method, path: string): Match | undefined;
  /** Methods that the path has. */
  methods(path: string): Method[];
}

interface Compiled {
  readonly behaviour: Behaviour;
  readonly pattern: RegExp;
  readonly names: readonly string[];
  /** Sorts literals before placeholders before globs, segment by segment. */
  readonly rank: string;
}

const literal = (text: string) => text.replace(/[.*+?^${}()|[\]\\]/g, "\\$&");

function compile(behaviour: Behaviour): Compiled {
  const names: string[] = [];
  const source = behaviour.path.split(/(\{[a-z0-9_]+\*?\})/).map((piece) => {
    const name = /^\{([a-z0-9_]+)(\*?)\}$/.exec(piece);
    if (!name) return literal(piece);
    names.push(name[1] ?? "");
    return name[2] ? "(.+)" : "([^/]+)";
  });
  const rank = behaviour.path
    .split("/")
    .map((segment) => (segment.includes("*}") ? "2" : segment.includes("{") ? "1" : "0"))
    .join("");
  return { behaviour, pattern: new RegExp(`^${source.join("")}$`), names, rank };
}

function decoded(value: string): string {
  try {
    return decodeURIComponent(value);
  } catch {
    return value;
  }
}

/** Finds the row for a request. Rows that come later win over equal earlier ones. */
export function createRouter(behaviours: readonly Behaviour[]): Router {
  const unique = new Map(behaviours.map((row) => [`${row.method} ${row.path.replace(/\{[a-z0-9_]+\*?/g, "{")}`, row]));
  const rows = [...unique.values()].map(compile).sort((one, other) => (one.rank < other.rank ? -1 : one.rank > other.rank ? 1 : 0));
  const find = (method: Method, path: string): Match | undefined => {
    for (const { behaviour, pattern, names } of rows) {
      const found = behaviour.method === method ? pattern.exec(path) : null;
      if (found) return { behaviour, params: Object.fromEntries(names.map((name, at) => [name, decoded(found[at + 1] ?? "")])) };
    }
    return undefined;
  };
  return {
    match: (method, path) => find(method, path) ?? (method === "HEAD" ? find("GET", path) : undefined),
    methods: (path) => [...new Set(rows.filter((row) => row.pattern.test(path)).map((row) => row.behaviour.method))],
  };
}
