import { ancestry, findGroup, findProject, groupLevel, groupOf, projectLevel, requireUser } from "./access.ts";
import { memberJson } from "./entities.ts";
import { badParams, failure, forbidden, invalid, notFound } from "./errors.ts";
import { integer, integers, required, text, texts } from "./input.ts";
import { paged } from "./paging.ts";
import { created, del, get, noContent, ok, post, put } from "./reply.ts";
import { type Behaviour, type Group, type Json, type Member, type Project, type Reply, type Request, ROLE, type World } from "./types.ts";

interface Home {
  readonly source: "project" | "group";
  readonly id: number;
  /** The caller's own role here. */
  readonly level: number;
  readonly direct: Member[];
  /** With those of the groups above, the highest role of each. */
  readonly all: Member[];
}

const on = (world: World, source: "project" | "group", id: number) =>
  world.members.filter((row) => row.source === source && row.source_id === id);

function highest(rows: readonly Member[]): Member[] {
  const best = new Map<number, Member>();
  for (const row of rows) if (row.access_level > (best.get(row.user_id)?.access_level ?? -1)) best.set(row.user_id, row);
  return [...best.values()];
}

const owner = (world: World, project: Project): Member[] => {
  const user = world.users.find(({ username }) => username === project.namespace);
  if (!user) return [];
  return [
    {
      source: "project",
      source_id: project.id,
      user_id: user.id,
      access_level: ROLE.owner,
      created_at: project.created_at,
      created_by_id: user.id,
      expires_at: null,
    },
  ];
};

function home(request: Request): Home {
  const { world, user } = request;
  const above = (group: Group | undefined) => ancestry(world, group).flatMap(({ id }) => on(world, "group", id));
  if (request.params.project_id !== undefined) {
    const project = findProject(request);
    const direct = [...owner(world, project), ...on(world, "project", project.id)];
    return {
      source: "project",
      id: project.id,
      level: projectLevel(world, user, project),
      direct,
      all: highest([...direct, ...above(groupOf(world, project))]),
    };
  }
  const group = findGroup(request);
  return {
    source: "group",
    id: group.id,
    level: groupLevel(world, user, group),
    direct: on(world, "group", group.id),
    all: highest(above(group)),
  };
}

const list =
  (which: "direct" | "all") =>
  (request: Request): Reply => {
    const at = home(request);
    const search = (text(request.query, "query") ?? text(request.query, "search"))?.toLowerCase();
    const ids = integers(request.query, "user_ids");
    const rows = at[which].filter(({ user_id }) => {
      const user = request.world.users.find(({ id }) => id === user_id);
      return (!ids || ids.includes(user_id)) && (!search || `${user?.username} ${user?.name}`.toLowerCase().includes(search));
    });
    return paged(request, rows, (row) => memberJson(request.world, row));
  };

function member(request: Request, which: "direct" | "all"): { row: Member; at: Home } {
  const at = home(request);
  const row = at[which].find(({ user_id }) => String(user_id) === request.params.user_id);
  if (!row) throw notFound();
  return { row, at };
}

function manage(request: Request, at: Home): void {
  requireUser(request);
  if (at.level < (at.source === "project" ? ROLE.maintainer : ROLE.owner)) throw forbidden();
}

function level(request: Request, at: Home): number | undefined {
  const asked = integer(request.input, "access_level");
  if (asked !== undefined && !Object.values(ROLE).some((role) => role === asked && role > 0))
    throw badParams("access_level does not have a valid value");
  if (asked !== undefined && asked > at.level) throw forbidden();
  return asked;
}

function expiry(request: Request): string | null {
  const value = text(request.input, "expires_at");
  if (!value) return null;
  if (value.slice(0, 10) <= request.world.now().slice(0, 10)) throw invalid({ expires_at: ["cannot be a date in the past"] });
  return value.slice(0, 10);
}

function add(request: Request): Reply {
  const at = home(request);
  manage(request, at);
  const ids = texts(request.input, "user_id") ?? texts(request.input, "username");
  if (!ids) throw badParams("user_id, username are missing, exactly one parameter must be provided");
  required(request, "access_level");
  const access_level = level(request, at) ?? ROLE.guest;
  const errors: Json = {};
  const made = ids.flatMap((key) => {
    const user = request.world.users.find(({ id, username }) => String(id) === key || username === key);
    if (!user) throw notFound("User");
    if (at.direct.some(({ user_id }) => user_id === user.id)) {
      if (ids.length === 1) throw failure(409, "Member already exists");
      errors[user.username] = "Already a member";
      return [];
    }
    const { world } = request;
    const by = request.user?.id ?? 0;
    return [
      {
        source: at.source,
        source_id: at.id,
        user_id: user.id,
        access_level,
        created_at: world.now(),
        created_by_id: by,
        expires_at: expiry(request),
      },
    ];
  });
  request.world.members.push(...made);
  const [only] = made;
  if (made.length === 1 && ids.length === 1 && only) return created(memberJson(request.world, only));
  return created(Object.keys(errors).length > 0 ? { status: "error", message: errors } : { status: "success" });
}

function update(request: Request): Reply {
  const { row, at } = member(request, "direct");
  manage(request, at);
  required(request, "access_level");
  row.access_level = level(request, at) ?? row.access_level;
  if ("expires_at" in request.input) row.expires_at = expiry(request);
  return ok(memberJson(request.world, row));
}

function remove(request: Request): Reply {
  const { row, at } = member(request, "direct");
  if (row.user_id !== request.user?.id) manage(request, at);
  const owners = at.direct.filter(({ access_level }) => access_level === ROLE.owner);
  if (at.source === "group" && owners.length === 1 && owners[0] === row) throw forbidden();
  request.world.members.splice(request.world.members.indexOf(row), 1);
  return noContent();
}

const rows = (base: string): Behaviour[] => [
  get(`${base}/members`, list("direct")),
  get(`${base}/members/all`, list("all")),
  post(`${base}/members`, add),
  get(`${base}/members/{user_id}`, (request) => ok(memberJson(request.world, member(request, "direct").row))),
  get(`${base}/members/all/{user_id}`, (request) => ok(memberJson(request.world, member(request, "all").row))),
  put(`${base}/members/{user_id}`, update),
  del(`${base}/members/{user_id}`, remove),
];

export const memberBehaviours: readonly Behaviour[] = [...rows("/projects/{project_id}"), ...rows("/groups/{group_id}")];
