import { requireAdmin, requireUser } from "./access.ts";
import { userBasic, userFull, userPublic } from "./entities.ts";
import { failure, forbidden, invalid, notFound } from "./errors.ts";
import { flag, required, text } from "./input.ts";
import { paged } from "./paging.ts";
import { created, del, get, noContent, ok, post, put } from "./reply.ts";
import type { Behaviour, Reply, Request, User, World } from "./types.ts";

/** The user that `{user_id}` names, by number (or name, where GitLab takes names). */
export function findUser(request: Request, name = request.params.user_id): User {
  const user = request.world.users.find((row) => String(row.id) === name);
  if (!user) throw notFound("User");
  return user;
}

function matches(request: Request): User[] {
  const { query, world } = request;
  const [username, search] = [text(query, "username")?.toLowerCase(), text(query, "search")?.toLowerCase()];
  const admins = request.user?.admin === true;
  return world.users
    .filter((user) => username === undefined || user.username.toLowerCase() === username)
    .filter((user) => !search || [user.username, user.name, user.email].some((value) => value.toLowerCase().includes(search)))
    .filter((user) => flag(query, "active") !== true || user.state === "active")
    .filter((user) => flag(query, "blocked") !== true || user.state === "blocked")
    .filter((user) => flag(query, "humans") !== true || !user.bot)
    .filter((user) => flag(query, "without_project_bots") !== true || !user.bot)
    .filter((user) => !admins || flag(query, "admins") !== true || user.admin)
    .reverse();
}

function list(request: Request): Reply {
  const show = (user: User) => (request.user?.admin ? userFull(request.world, user) : userBasic(request.world, user.id));
  if (!request.user && text(request.query, "username") === undefined)
    throw failure(403, "403 Forbidden - Not authorized to access /api/v4/users");
  return paged(request, matches(request), show, {
    keyset: { key: ({ id }) => id, others: { name: ({ name }) => name, username: ({ username }) => username } },
  });
}

function one(request: Request): Reply {
  const user = findUser(request);
  requireUser(request);
  return ok(request.user?.admin ? userFull(request.world, user) : userPublic(request.world, user));
}

/** @throws 409 where another user has the name or the address. */
function checkTaken(request: Request, self?: User): void {
  const others = request.world.users.filter((user) => user !== self);
  const [username, email] = [text(request.input, "username"), text(request.input, "email")];
  if (others.some((user) => user.username === username)) throw failure(409, "Username has already been taken");
  if (others.some((user) => user.email === email)) throw failure(409, "Email has already been taken");
  if (username !== undefined && !/^[\w.-]+$/.test(username))
    throw invalid({ username: ["can contain only letters, digits, '_', '-' and '.'"] });
}

function newUser(world: World, username: string, more: Partial<User>): User {
  const user: User = {
    id: world.nextId("user"),
    username,
    name: username,
    email: "",
    state: "active",
    admin: false,
    bot: false,
    created_at: world.now(),
    bio: "",
    location: "",
    job_title: "",
    ...more,
  };
  world.users.push(user);
  return user;
}

function create(request: Request): Reply {
  requireAdmin(request);
  required(request, "email", "name", "username");
  checkTaken(request);
  const username = text(request.input, "username") ?? "";
  const [name = username, email = ""] = [text(request.input, "name"), text(request.input, "email")];
  const user = newUser(request.world, username, { name, email, admin: flag(request.input, "admin") ?? false });
  return created(userFull(request.world, user));
}

function update(request: Request): Reply {
  requireAdmin(request);
  const user = findUser(request);
  checkTaken(request, user);
  for (const field of ["username", "name", "email", "bio", "location", "job_title"] as const) {
    const value = text(request.input, field);
    if (value !== undefined) user[field] = value;
  }
  user.admin = flag(request.input, "admin") ?? user.admin;
  return ok(userFull(request.world, user));
}

/** Blocks or unblocks; GitLab answers with a bare true. */
function setState(request: Request, state: User["state"]): Reply {
  const self = requireAdmin(request);
  const user = findUser(request);
  if (user === self) throw forbidden("You can't block yourself");
  user.state = state;
  return created(true);
}

/** Whoever wrote what a deleted user has left. */
function ghost(world: World): User {
  return (
    world.users.find(({ username }) => username === "ghost") ??
    newUser(world, "ghost", { name: "Ghost User", email: "ghost@example.com", bot: true })
  );
}

const drop = <T>(rows: T[], gone: (row: T) => boolean): void => {
  rows.splice(0, rows.length, ...rows.filter((row) => !gone(row)));
};

function remove(request: Request): Reply {
  requireAdmin(request);
  const { world } = request;
  const user = findUser(request);
  const heir = ghost(world).id;
  for (const row of [...world.issues, ...world.notes, ...world.events]) if (row.author_id === user.id) row.author_id = heir;
  for (const rows of [world.tokens, world.members, world.todos] as { user_id: number }[][]) drop(rows, (row) => row.user_id === user.id);
  drop(world.users, (row) => row === user);
  return noContent();
}

const reads = { scopes: ["read_user"] };

export const userBehaviours: readonly Behaviour[] = [
  get("/user", (request) => ok(userFull(request.world, requireUser(request))), reads),
  get("/users", list, reads),
  post("/users", create),
  get("/users/{user_id}", one, reads),
  put("/users/{user_id}", update),
  del("/users/{user_id}", remove),
  post("/users/{user_id}/block", (request) => setState(request, "blocked")),
  post("/users/{user_id}/unblock", (request) => setState(request, "active")),
  get(
    "/user/emails",
    (request) => {
      const user = requireUser(request);
      return paged(request, [{ id: user.id, email: user.email, confirmed_at: user.created_at }], (row) => row);
    },
    reads,
  ),
  get("/user_counts", (request) => {
    const user = requireUser(request);
    const mine = request.world.issues.filter((issue) => issue.state === "opened" && issue.assignee_ids.includes(user.id)).length;
    const todos = request.world.todos.filter((todo) => todo.user_id === user.id && todo.state === "pending").length;
    return ok({ merge_requests: 0, assigned_issues: mine, assigned_merge_requests: 0, review_requested_merge_requests: 0, todos });
  }),
];
