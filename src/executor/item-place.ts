import type { Place } from "../policy/scope.ts";
import type { Target } from "./identifiers.ts";
import { isPlain } from "./slim.ts";

type Plain = Readonly<Record<string, unknown>>;

/** Where a row of a list belongs, as far as the row itself tells. */
export interface ItemPlace {
  readonly kind: "project" | "group";
  readonly place: Place;
}

const text = (value: unknown): string | undefined => (typeof value === "string" && value !== "" ? value : undefined);

function placed(kind: ItemPlace["kind"], id: unknown, path: unknown): ItemPlace | undefined {
  const place = { ...(typeof id === "number" ? { id } : {}), ...(text(path) === undefined ? {} : { path: String(path) }) };
  return Object.keys(place).length > 0 ? { kind, place } : undefined;
}

/** A project, group or namespace itself. */
function itself(item: Plain): ItemPlace | undefined {
  if (text(item.path_with_namespace)) return placed("project", item.id, item.path_with_namespace);
  return text(item.full_path) ? placed("group", item.kind === "user" ? undefined : item.id, item.full_path) : undefined;
}

/** `group/app#1`, `group/app!2`, `group&3`. */
function byReference({ references, project_id, group_id }: Plain): ItemPlace | undefined {
  const full = isPlain(references) ? text(references.full) : undefined;
  const [, path, mark] = /^([\w./-]+)([#!&])\d+$/.exec(full ?? "") ?? [];
  if (path === undefined) return undefined;
  return mark === "&" ? placed("group", group_id, path) : placed("project", project_id, path);
}

function byOwner({ project, group }: Plain): ItemPlace | undefined {
  if (typeof project === "string" && /^[\w.-]+(\/[\w.-]+)+$/.test(project)) return placed("project", undefined, project);
  if (isPlain(project)) return placed("project", project.id, project.path_with_namespace ?? project.full_path);
  return isPlain(group) ? placed("group", group.id, group.full_path) : undefined;
}

/** What an address of this GitLab names. */
export type FindTarget = (address: string) => Target | undefined;

function byAddress(item: Plain, target: FindTarget): ItemPlace | undefined {
  const links = isPlain(item._links) ? text(item._links.self) : undefined;
  for (const address of [text(item.web_url), links]) {
    const found = address === undefined || /\/api\/v4\/(?!(projects|groups)\/)/.test(address) ? undefined : target(address);
    const named = found?.project ?? found?.group;
    // The page of a person, or of a group as people look at it, has one word.
    const isPlace = found?.group !== undefined || found?.kind !== undefined || /\/|^\d+$/.test(named ?? "");
    if (found && named && isPlace) {
      const isId = /^\d+$/.test(named);
      return placed(found.project ? "project" : "group", isId ? Number(named) : undefined, isId ? undefined : named);
    }
  }
  return undefined;
}

/** The project or group that a row tells of itself; undefined where it tells none. */
export function placeOfItem(item: unknown, target: FindTarget): ItemPlace | undefined {
  if (!isPlain(item)) return undefined;
  return (
    itself(item) ??
    byReference(item) ??
    (typeof item.project_id === "number" ? placed("project", item.project_id, undefined) : undefined) ??
    byOwner(item) ??
    (typeof item.group_id === "number" ? placed("group", item.group_id, undefined) : undefined) ??
    byAddress(item, target)
  );
}
