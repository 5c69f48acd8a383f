import { fillPath } from "./address.ts";
import type { FindPlace, Place } from "./graphql-variables.ts";
import type { Read } from "./lookups.ts";
import { isPlain } from "./slim.ts";

const TEMPLATES = { project: "/projects/{project_id}", group: "/groups/{group_id}" } as const;

/** Looks up projects and groups, each only once. */
export function createFinder(read: Read): FindPlace {
  const known = new Map<string, Promise<Place>>();
  const ask = async (kind: "project" | "group", place: string): Promise<Place> => {
    const template = TEMPLATES[kind];
    const found = await read(fillPath(template, { [`${kind}_id`]: place }), template);
    const path = isPlain(found) ? (found.path_with_namespace ?? found.full_path) : undefined;
    return { id: isPlain(found) ? Number(found.id) : Number.NaN, path: String(path ?? place) };
  };
  return (kind, place) => {
    const key = `${kind} ${place}`;
    const asked = known.get(key) ?? ask(kind, place);
    known.set(key, asked);
    return asked;
  };
}
