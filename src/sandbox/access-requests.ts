import { canSeeGroup, findGroup, findProject, groupLevel, lookUpGroup, projectLevel, requireUser } from "./access.ts";
import { memberJson, userBasic } from "./entities.ts";
import { badParams, failure, forbidden, notFound } from "./errors.ts";
import { integer, required, text, texts } from "./input.ts";
import { paged } from "./paging.ts";
import { created, del, get, noContent, ok, post, put } from "./reply.ts";
import { addShare, dropShare, type Share, sharesOf } from "./shares.ts";
import { type Behaviour, type Json, type Reply, type Request, ROLE, type World } from "./types.ts";

interface Home {
  readonly source: "project" | "group";
  readonly id: number;
  /** The caller's own role here. */
  readonly level: number;
}

/** Somebody who asked to come in. */
interface Asked {
  readonly source: Home["source"];
  readonly source_id: number;
  readonly user_id: number;
  readonly requested_at: string;
}

/** An address that was asked to come in. */
interface Invited {
  readonly source: Home["source"];
  readonly source_id: number;
  readonly email: string;
  readonly created_at: string;
  readonly by: number;
  access_level: number;
  expires_at: string | null;
}

const askedOf = (world: World) => world.part<Asked[]>("access-requests", () => []);
const invitedOf = (world: World) => world.part<Invited[]>("invitations", () => []);

function home(request: Request): Home {
  const { world, user } = request;
  if (request.params.project_id === undefined) {
    const group = findGroup(request);
    return { source: "group", id: group.id, level: groupLevel(world, user, group) };
  }
  const project = findProject(request);
  return { source: "project", id: project.id, level: projectLevel(world, user, project) };
}

/** @throws 401 or 403 to those who may not manage the members. */
function managed(request: Request): Home {
  const at = home(request);
  requireUser(request);
  if (at.level < (at.source === "project" ? ROLE.maintainer : ROLE.owner)) throw forbidden();
  return at;
}

const within = (at: Home) => (row: { source: string; source_id: number }) => row.source === at.source && row.source_id === at.id;

function drop<T>(rows: T[], row: T): void {
  rows.splice(rows.indexOf(row), 1);
}

const askedJson = (world: World, { user_id, requested_at }: Asked): Json => ({ ...userBasic(world, user_id), requested_at });

function ask(request: Request): Reply {
  const user = requireUser(request);
  const at = home(request);
  if (at.level > ROLE.none) throw forbidden();
  const rows = askedOf(request.world);
  if (rows.some((row) => within(at)(row) && row.user_id === user.id)) throw failure(400, { user_id: ["already requested"] });
  const row: Asked = { source: at.source, source_id: at.id, user_id: user.id, requested_at: request.world.now() };
  rows.push(row);
  return created(askedJson(request.world, row));
}

function oneAsked(request: Request, at: Home): Asked {
  const row = askedOf(request.world)
    .filter(within(at))
    .find(({ user_id }) => String(user_id) === request.params.user_id);
  if (!row) throw notFound();
  return row;
}

function approve(request: Request): Reply {
  const at = managed(request);
  const row = oneAsked(request, at);
  const access_level = integer(request.input, "access_level") ?? ROLE.developer;
  const { source, source_id, user_id } = row;
  const created_by_id = request.user?.id ?? 0;
  const member = { source, source_id, user_id, access_level, created_at: request.world.now(), created_by_id, expires_at: null };
  request.world.members.push(member);
  drop(askedOf(request.world), row);
  return created(memberJson(request.world, member));
}

function deny(request: Request): Reply {
  const at = home(request);
  const row = oneAsked(request, at);
  if (row.user_id !== requireUser(request).id) managed(request);
  drop(askedOf(request.world), row);
  return noContent();
}

const invitedJson = (world: World, row: Invited): Json => ({
  access_level: row.access_level,
  created_at: row.created_at,
  expires_at: row.expires_at,
  invite_email: row.email,
  invite_token: null,
  user_name: null,
  created_by_name: userBasic(world, row.by)?.name ?? null,
});

/** GitLab answers 201 with `status: error` where single addresses could not be invited. */
function invite(request: Request): Reply {
  const at = managed(request);
  required(request, "access_level");
  const emails = texts(request.input, "email") ?? [];
  if (emails.length === 0) throw badParams("email, user_id are missing, at least one parameter must be provided");
  const access_level = integer(request.input, "access_level") ?? ROLE.guest;
  const errors: Json = {};
  for (const email of emails.flatMap((one) => one.split(",")).map((one) => one.trim())) {
    const known = invitedOf(request.world).some((row) => within(at)(row) && row.email === email);
    if (known) errors[email] = "The member's email address has already been taken";
    else if (!/^\S+@\S+\.\S+$/.test(email)) errors[email] = "Invite email is invalid";
    else
      invitedOf(request.world).push({
        source: at.source,
        source_id: at.id,
        email,
        created_at: request.world.now(),
        by: request.user?.id ?? 0,
        access_level,
        expires_at: text(request.input, "expires_at") ?? null,
      });
  }
  return created(Object.keys(errors).length > 0 ? { status: "error", message: errors } : { status: "success" });
}

function oneInvited(request: Request): Invited {
  const at = managed(request);
  const row = invitedOf(request.world).find((one) => within(at)(one) && one.email === request.params.email);
  if (!row) throw notFound();
  return row;
}

function changeInvited(request: Request): Reply {
  const row = oneInvited(request);
  row.access_level = integer(request.input, "access_level") ?? row.access_level;
  row.expires_at = text(request.input, "expires_at") ?? row.expires_at;
  return ok(invitedJson(request.world, row));
}

function share(request: Request): Reply {
  const project = findProject(request, ROLE.maintainer);
  required(request, "group_id", "group_access");
  const group = lookUpGroup(request.world, text(request.input, "group_id") ?? "");
  if (!group || !canSeeGroup(request.world, request.user, group)) throw notFound("Group");
  if (sharesOf(request.world, project).some(({ group_id }) => group_id === group.id))
    throw failure(409, "The group has already been shared with this project");
  const group_access = integer(request.input, "group_access") ?? ROLE.guest;
  const expires_at = text(request.input, "expires_at") ?? null;
  const made: Share = { id: request.world.nextId("share"), project_id: project.id, group_id: group.id, group_access, expires_at };
  addShare(request.world, made);
  return created(made);
}

function unshare(request: Request): Reply {
  const project = findProject(request, ROLE.maintainer);
  const found = sharesOf(request.world, project).find(({ group_id }) => String(group_id) === request.params.group_id);
  if (!found) throw notFound("Group Link");
  dropShare(request.world, found);
  return noContent();
}

const rows = (base: string): Behaviour[] => [
  get(`${base}/access_requests`, (request) => {
    const at = managed(request);
    return paged(request, askedOf(request.world).filter(within(at)), (row) => askedJson(request.world, row));
  }),
  post(`${base}/access_requests`, ask),
  put(`${base}/access_requests/{user_id}/approve`, approve),
  del(`${base}/access_requests/{user_id}`, deny),
  get(`${base}/invitations`, (request) => {
    const at = managed(request);
    const words = text(request.query, "query")?.toLowerCase() ?? "";
    const shown = invitedOf(request.world).filter((row) => within(at)(row) && row.email.toLowerCase().includes(words));
    return paged(request, shown, (row) => invitedJson(request.world, row));
  }),
  post(`${base}/invitations`, invite),
  put(`${base}/invitations/{email}`, changeInvited),
  del(`${base}/invitations/{email}`, (request) => {
    drop(invitedOf(request.world), oneInvited(request));
    return noContent();
  }),
];

/** The ways in: asking, being asked, and coming with a group that the project is shared with. */
export const accessRequestBehaviours: readonly Behaviour[] = [
  ...rows("/projects/{project_id}"),
  ...rows("/groups/{group_id}"),
  post("/projects/{project_id}/share", share),
  del("/projects/{project_id}/share/{group_id}", unshare),
];
