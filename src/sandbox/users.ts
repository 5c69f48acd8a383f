import { requireAdmin, requireUser } from "./access.ts";
import { userBasic, userFull, userPublic } from "./entities.ts";
import { failure, invalid, notFound } from "./errors.ts";
import { flag, required, text } from "./input.ts";
import { paged } from "./paging.ts";
import { created, get, ok, post } from "./reply.ts";
import type { Behaviour, Reply, Request, User } from "./types.ts";

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

function create(request: Request): Reply {
  requireAdmin(request);
  required(request, "email", "name", "username");
  const [username = "", email = ""] = [text(request.input, "username"), text(request.input, "email")];
  if (request.world.users.some((user) => user.username === username)) throw failure(409, "Username has already been taken");
  if (request.world.users.some((user) => user.email === email)) throw failure(409, "Email has already been taken");
  if (!/^[\w.-]+$/.test(username)) throw invalid({ username: ["can contain only letters, digits, '_', '-' and '.'"] });
  const user: User = {
    id: request.world.nextId("user"),
    username,
    name: text(request.input, "name") ?? username,
    email,
    state: "active",
    admin: flag(request.input, "admin") ?? false,
    bot: false,
    created_at: request.world.now(),
    bio: "",
    location: "",
    job_title: "",
  };
  request.world.users.push(user);
  return created(userFull(request.world, user));
}

const reads = { scopes: ["read_user"] };

export const userBehaviours: readonly Behaviour[] = [
  get("/user", (request) => ok(userFull(request.world, requireUser(request))), reads),
  get("/users", list, reads),
  post("/users", create),
  get("/users/{user_id}", one, reads),
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
