import type { CallContext } from "../catalog/types.ts";
import type { Place } from "../policy/scope.ts";
import { isPlain } from "./slim.ts";

/** Reads one path of GitLab for a caller; any failure is thrown. */
type Get = (path: string, template: string, context: CallContext) => Promise<unknown>;

/** How ids and paths of projects and groups are told apart for one caller. */
export interface Look {
  /** By id or full path; undefined where GitLab does not show it to this caller. */
  project(value: string): Promise<Place | undefined>;
  group(value: string): Promise<Place | undefined>;
}

/** Projects are moved: what may be reached is not judged by where they were long ago. */
const LIFETIME_MS = 60_000;
const MOST_KNOWN = 5_000;

interface Known {
  readonly place: Promise<Place | undefined>;
  readonly since: number;
}

/** What stands before the path in an address that GitLab gave. */
function rootOf(address: unknown, path: string): string | undefined {
  if (typeof address !== "string" || !URL.canParse(address)) return undefined;
  const root = [`/groups/${path}`, `/${path}`].find((end) => address.toLowerCase().endsWith(end.toLowerCase()));
  return root === undefined ? undefined : address.slice(0, -root.length);
}

function toPlace(body: unknown, path: "path_with_namespace" | "full_path"): Place | undefined {
  if (!isPlain(body) || typeof body.id !== "number") return undefined;
  const full = body[path];
  if (typeof full !== "string") return { id: body.id };
  const root = rootOf(body.web_url, full);
  return { id: body.id, path: full, ...(root === undefined ? {} : { root }) };
}

const keyOf = ({ credential, principal }: CallContext) =>
  `${principal.instance}\n${credential ? `${credential.header}:${credential.value}` : "server"}`;

/** Asks GitLab once per credential and place, and keeps the answer for a while; what it does not show is asked for again. */
export function createPlaces(get: Get, now: () => number = Date.now): (context: CallContext) => Look {
  const known = new Map<string, Known>();
  const remember = (key: string, read: () => Promise<Place | undefined>): Promise<Place | undefined> => {
    const old = known.get(key);
    if (old && now() - old.since < LIFETIME_MS) return old.place;
    const place = read().catch(() => undefined);
    known.delete(key);
    known.set(key, { place, since: now() });
    const oldest = known.keys().next().value;
    if (known.size > MOST_KNOWN && oldest !== undefined) known.delete(oldest);
    void place.then((found) => {
      if (!found) known.delete(key);
    });
    return place;
  };
  return ({ scope: _none, ...context }) => {
    const look = (kind: "projects" | "groups", value: string) => {
      const name = kind === "projects" ? "project_id" : "group_id";
      const read = async () => {
        const body = await get(`/${kind}/${encodeURIComponent(value)}?with_projects=false`, `/${kind}/{${name}}`, context);
        return toPlace(body, kind === "projects" ? "path_with_namespace" : "full_path");
      };
      return remember(`${keyOf(context)}\n${kind}/${value.toLowerCase()}`, read);
    };
    return { project: (value) => look("projects", value), group: (value) => look("groups", value) };
  };
}
