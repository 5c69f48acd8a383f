import { findGroup, findProject, groupLevel, projectLevel, requireAdmin, requireUser } from "./access.ts";
import { isActive } from "./auth.ts";
import { badParams, badRequest, failure, forbidden, notFound, unauthorized } from "./errors.ts";
import { integer, oneOf, required, text, texts } from "./input.ts";
import { paged } from "./paging.ts";
import { created, del, get, noContent, ok, post } from "./reply.ts";
import { type Behaviour, type Json, type Reply, type Request, ROLE, type Token, type User, type World } from "./types.ts";
import { findUser } from "./users.ts";

const SCOPES = [
  "api",
  "read_api",
  "read_user",
  "create_runner",
  "manage_runner",
  "k8s_proxy",
  "self_rotate",
  "read_repository",
  "write_repository",
  "read_registry",
  "write_registry",
  "ai_features",
  "sudo",
  "admin_mode",
];

export function tokenJson(world: World, token: Token, secret = false): Json {
  const resource = token.kind === "project" || token.kind === "group";
  return {
    id: token.id,
    name: token.name,
    revoked: token.revoked,
    created_at: token.created_at,
    description: token.description,
    scopes: token.scopes,
    user_id: token.user_id,
    last_used_at: token.last_used_at,
    active: isActive(world, token),
    expires_at: token.expires_at,
    ...(resource ? { access_level: token.access_level, resource_type: token.kind, resource_id: token.source_id } : {}),
    ...(secret ? { token: token.value } : {}),
  };
}

function expiry(request: Request): string | null | undefined {
  const value = text(request.input, "expires_at");
  if (value === undefined) return undefined;
  if (!/^\d{4}-\d{2}-\d{2}/.test(value) || Number.isNaN(Date.parse(value))) throw badParams("expires_at is invalid");
  const day = value.slice(0, 10);
  const now = Date.parse(request.world.now());
  const days = (Date.parse(day) - now) / 86_400_000;
  if (days < -1) throw badRequest("Expiration date cannot be in the past");
  if (days > 400) throw badRequest("Expiration date must be before 2027-12-07");
  return day;
}

const later = (world: World, days: number) => new Date(Date.parse(world.now()) + days * 86_400_000).toISOString().slice(0, 10);

/** A new secret under a new id; the old one is revoked. */
function rotate(request: Request, token: Token): Reply {
  const { world } = request;
  if (!isActive(world, token)) throw badRequest("token already revoked");
  const expires = expiry(request);
  token.revoked = true;
  const id = world.nextId("token");
  const fresh: Token = {
    ...token,
    id,
    value: `${token.value.replace(/-r\d+$/, "")}-r${id}`,
    revoked: false,
    created_at: world.now(),
    last_used_at: null,
    expires_at: expires ?? later(world, 7),
  };
  world.tokens.push(fresh);
  return ok(tokenJson(world, fresh, true));
}

function own(request: Request): Token {
  if (!request.token || request.token.kind === "job") throw unauthorized();
  return request.token;
}

/** Personal tokens that the caller may see: its own, or all for administrators. */
function personal(request: Request): Token[] {
  const user = requireUser(request);
  const of = integer(request.query, "user_id");
  if (of !== undefined && of !== user.id && !user.admin) throw unauthorized();
  const state = oneOf(request.query, "state", ["active", "inactive"]);
  return request.world.tokens
    .filter((token) => token.kind === "personal")
    .filter((token) => (of === undefined ? user.admin || token.user_id === user.id : token.user_id === of))
    .filter((token) => state === undefined || isActive(request.world, token) === (state === "active"));
}

function onePersonal(request: Request): Token {
  const token = personal(request).find(({ id }) => String(id) === request.params.token_id);
  if (!token) throw request.user?.admin ? notFound() : unauthorized();
  return token;
}

const revoke = (token: Token): Reply => {
  token.revoked = true;
  return noContent();
};

const ANY = { scopes: SCOPES };
const TURN = { scopes: ["self_rotate"] };

const personalRows: readonly Behaviour[] = [
  get("/personal_access_tokens", (request) => paged(request, personal(request), (token) => tokenJson(request.world, token))),
  get("/personal_access_tokens/self", (request) => ok(tokenJson(request.world, own(request))), ANY),
  del("/personal_access_tokens/self", (request) => revoke(own(request)), ANY),
  post("/personal_access_tokens/self/rotate", (request) => rotate(request, own(request)), TURN),
  get("/personal_access_tokens/{token_id}", (request) => ok(tokenJson(request.world, onePersonal(request)))),
  del("/personal_access_tokens/{token_id}", (request) => revoke(onePersonal(request))),
  post("/personal_access_tokens/{token_id}/rotate", (request) => rotate(request, onePersonal(request))),
  post("/user/personal_access_tokens", (request) => {
    const user = requireUser(request);
    required(request, "name", "scopes");
    return created(tokenJson(request.world, makeToken(request, user, "personal", {}), true));
  }),
  post("/users/{user_id}/personal_access_tokens", (request) => {
    requireAdmin(request);
    const user = findUser(request);
    required(request, "name", "scopes");
    return created(tokenJson(request.world, makeToken(request, user, "personal", {}), true));
  }),
];

type Kind = "project" | "group";

function makeToken(request: Request, user: User, kind: Token["kind"], more: Partial<Token>): Token {
  const { world } = request;
  const scopes = texts(request.input, "scopes") ?? [];
  if (scopes.length === 0) throw badRequest("Scopes can't be blank");
  if (scopes.some((scope) => !SCOPES.includes(scope))) throw badParams("scopes does not have a valid value");
  const id = world.nextId("token");
  const token: Token = {
    id,
    kind,
    value: `sandbox-token-${kind}-${id}`,
    name: text(request.input, "name") ?? "",
    description: text(request.input, "description") ?? null,
    user_id: user.id,
    scopes,
    revoked: false,
    created_at: world.now(),
    last_used_at: null,
    expires_at: expiry(request) ?? later(world, 365),
    ...more,
  };
  world.tokens.push(token);
  return token;
}

/** The bot that a project or group token acts as. */
function makeBot(world: World, kind: Kind, source: number, name: string, level: number): User {
  const id = world.nextId("user");
  const bot: User = {
    id,
    username: `${kind}_${source}_bot_${id}`,
    name,
    email: `${kind}_${source}_bot_${id}@noreply.example.com`,
    state: "active",
    admin: false,
    bot: true,
    created_at: world.now(),
    bio: "",
    location: "",
    job_title: "",
  };
  world.users.push(bot);
  world.members.push({
    source: kind,
    source_id: source,
    user_id: id,
    access_level: level,
    created_at: world.now(),
    created_by_id: id,
    expires_at: null,
  });
  return bot;
}

/** Project or group of the route with the caller's role in it. */
function source(request: Request, kind: Kind): { id: number; level: number } {
  const user = requireUser(request);
  const found = kind === "project" ? findProject(request) : findGroup(request);
  const level = "path_with_namespace" in found ? projectLevel(request.world, user, found) : groupLevel(request.world, user, found);
  if (level < (kind === "project" ? ROLE.maintainer : ROLE.owner)) throw kind === "project" ? unauthorized() : forbidden();
  return { id: found.id, level };
}

function listed(request: Request, kind: Kind): Token[] {
  const { id } = source(request, kind);
  const state = oneOf(request.query, "state", ["active", "inactive"]);
  return request.world.tokens
    .filter((token) => token.kind === kind && token.source_id === id)
    .filter((token) => state === undefined || isActive(request.world, token) === (state === "active"));
}

function oneListed(request: Request, kind: Kind): Token {
  const token = listed(request, kind).find(({ id }) => String(id) === request.params.token_id);
  if (!token) throw failure(404, `404 Could not find ${kind} access token with token_id: ${request.params.token_id} Not Found`);
  return token;
}

function create(request: Request, kind: Kind): Reply {
  const { id, level } = source(request, kind);
  required(request, "name", "scopes");
  const asked = integer(request.input, "access_level") ?? ROLE.maintainer;
  if (!Object.values(ROLE).some((role) => role === asked && role >= ROLE.guest))
    throw badParams("access_level does not have a valid value");
  if (asked > level) throw badRequest("Access level of the token can't be greater the access level of the user who created the token");
  const bot = makeBot(request.world, kind, id, text(request.input, "name") ?? "", asked);
  const token = makeToken(request, bot, kind, { source_id: id, access_level: asked });
  return created(tokenJson(request.world, token, true));
}

function resourceRows(kind: Kind): Behaviour[] {
  const path = `/${kind}s/{${kind}_id}/access_tokens`;
  return [
    get(path, (request) => paged(request, listed(request, kind), (token) => tokenJson(request.world, token))),
    post(path, (request) => create(request, kind)),
    get(`${path}/{token_id}`, (request) => ok(tokenJson(request.world, oneListed(request, kind)))),
    del(`${path}/{token_id}`, (request) => revoke(oneListed(request, kind))),
    post(`${path}/self/rotate`, (request) => rotate(request, own(request)), TURN),
    post(`${path}/{token_id}/rotate`, (request) => rotate(request, oneListed(request, kind))),
  ];
}

export const tokenBehaviours: readonly Behaviour[] = [...personalRows, ...resourceRows("project"), ...resourceRows("group")];
