import { lookUpGroup, lookUpProject } from "./access.ts";
import { userBasic, userPublic } from "./entities.ts";
import { groupJson, projectBasic, projectFull } from "./entities-projects.ts";
import { entityFields } from "./entity-fields.ts";
import type { Json, Request } from "./types.ts";

/** What a field holds by its name alone, where the name says enough. */
const BY_NAME: Readonly<Record<string, (request: Request) => unknown>> = {
  created_at: ({ world }) => world.now(),
  updated_at: ({ world }) => world.now(),
  project_id: ({ world, params }) => lookUpProject(world, params.project_id ?? "")?.id ?? null,
  group_id: ({ world, params }) => lookUpGroup(world, params.group_id ?? "")?.id ?? null,
  user: ({ world, user }) => userBasic(world, user?.id),
  author: ({ world, user }) => userBasic(world, user?.id),
  owner: ({ world, user }) => userBasic(world, user?.id),
  created_by: ({ world, user }) => userBasic(world, user?.id),
  project: ({ world, params }) => {
    const project = lookUpProject(world, params.project_id ?? "");
    return project ? projectBasic(world, project) : null;
  },
  group: ({ world, params }) => {
    const group = lookUpGroup(world, params.group_id ?? "");
    return group ? groupJson(world, group) : null;
  },
  active: () => true,
  enabled: () => true,
  state: () => "active",
  status: () => "created",
  username: ({ user }) => user?.username ?? null,
};

const BY_TYPE: Readonly<Record<string, unknown>> = {
  string: null,
  datetime: null,
  union: null,
  object: null,
  boolean: false,
  integer: 0,
  number: 0,
};

/** Fields that hold a secret are made only where the entity is one that delivers it. */
const SECRETS = ["token", "secret"];

function coerced(value: unknown, type: string): unknown {
  if (typeof value !== "string") return value;
  if (type === "boolean") return value === "true" || value === "1";
  if ((type === "integer" || type === "number") && /^-?\d+(\.\d+)?$/.test(value)) return Number(value);
  return value;
}

/** The whole of a thing that is not a row of the engine: the project, the group, the caller. */
function ofWorld(request: Request, entity: string): Json | undefined {
  const { world, params, user } = request;
  if (/^APIEntities(Basic)?Project(Details|WithAccess)?$/.test(entity)) {
    const project = lookUpProject(world, params.project_id ?? "");
    return project && projectFull(world, project, user);
  }
  if (/^APIEntities(Public)?Group(Details?)?$/.test(entity)) {
    const group = lookUpGroup(world, params.group_id ?? "");
    return group && groupJson(world, group);
  }
  if (/^APIEntitiesUser/.test(entity) && params.user_id !== undefined) {
    const found = world.users.find(({ id }) => String(id) === params.user_id);
    return found && userPublic(world, found);
  }
  return undefined;
}

/** An entity with every field that GitLab's has: as sent, else as the name says, else empty. */
export function filled(request: Request, entity: string | undefined, sent: Readonly<Json>): Json {
  const whole = entity ? ofWorld(request, entity) : undefined;
  if (whole) return whole;
  const fields = entityFields(entity);
  const result: Json = {};
  for (const [name, type] of Object.entries(fields)) {
    if (name in sent) result[name] = coerced(sent[name], type);
    else if (SECRETS.includes(name)) result[name] = `sandbox-secret-${request.world.nextId("secret")}`;
    else if (BY_NAME[name] && !(name === "state" && type !== "string")) result[name] = BY_NAME[name]?.(request);
    else result[name] = type === "array" ? [] : (BY_TYPE[type] ?? null);
  }
  return Object.keys(fields).length > 0 ? result : { ...sent };
}
