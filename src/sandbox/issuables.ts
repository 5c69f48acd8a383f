import { findProject, projectLevel, requireUser } from "./access.ts";
import { addTodo } from "./activity.ts";
import { emojiBehaviours } from "./emoji.ts";
import { userBasic, usersBasic } from "./entities.ts";
import { labelBasic, milestoneJson, timeStats } from "./entities-planning.ts";
import { forbidden, invalid, notFound } from "./errors.ts";
import { integers, required, text } from "./input.ts";
import { labelsOf } from "./labels.ts";
import { noteBehaviours } from "./notes.ts";
import { notesOn } from "./notes-store.ts";
import { paged } from "./paging.ts";
import { created, get, ok, post } from "./reply.ts";
import { todoJson } from "./todo-entities.ts";
import {
  type Behaviour,
  type Issuable,
  type IssuableKind,
  type Json,
  type Reply,
  type Request,
  type ResourceEvent,
  ROLE,
  type World,
} from "./types.ts";

/** Author, assignees and everybody who commented. */
export function participants(world: World, type: IssuableKind["type"], target: Issuable): number[] {
  const writers = notesOn(world, { type, id: target.id }).filter(({ system }) => !system);
  return [...new Set([target.author_id, ...target.assignee_ids, ...writers.map(({ author_id }) => author_id)])];
}

export function isSubscribed(request: Request, type: IssuableKind["type"], target: Issuable): boolean {
  const { user } = request;
  if (!user) return false;
  return target.subscriptions.get(user.id) ?? participants(request.world, type, target).includes(user.id);
}

/**
 * Assignees as asked with `assignee_ids`, `assignee_id` or `assignee_username`; undefined where none is there. Unknown users are left out, as GitLab does.
 */
export function changedAssignees(request: Request): number[] | undefined {
  const { input, world } = request;
  const single = text(input, "assignee_id");
  const ids = integers(input, "assignee_ids") ?? (single === undefined ? undefined : integers({ assignee_id: single }, "assignee_id"));
  if (ids === undefined) return undefined;
  return [...new Set(ids)].filter((id) => world.users.some((user) => user.id === id));
}

const UNITS: Readonly<Record<string, number>> = { mo: 576_000, w: 144_000, d: 28_800, h: 3_600, m: 60, s: 1 };

/** `1w 2d 3h30m` → seconds; nothing where it cannot be read. */
export function parseDuration(duration: string): number | undefined {
  const whole = duration.trim();
  if (!/^-?(\s*\d+(\.\d+)?\s*(mo|w|d|h|m|s))+$/i.test(whole)) return undefined;
  const sum = [...whole.matchAll(/(\d+(?:\.\d+)?)\s*(mo|w|d|h|m|s)/gi)].reduce(
    (total, [, count, unit]) => total + Number(count) * (UNITS[(unit ?? "").toLowerCase()] ?? 0),
    0,
  );
  return whole.startsWith("-") ? -sum : sum;
}

function writable(request: Request, kind: IssuableKind): Issuable {
  const target = kind.find(request);
  const user = requireUser(request);
  const level = projectLevel(request.world, user, findProject(request));
  if (level < ROLE.planner && target.author_id !== user.id) throw forbidden();
  return target;
}

function setEstimate(request: Request, kind: IssuableKind): Reply {
  const target = writable(request, kind);
  required(request, "duration");
  const seconds = parseDuration(text(request.input, "duration") ?? "");
  if (seconds === undefined || seconds < 0) {
    throw invalid({ time_estimate: ["must have a valid format and be greater than or equal to zero."] });
  }
  target.time_estimate = seconds;
  return ok(timeStats(target));
}

function addSpent(request: Request, kind: IssuableKind): Reply {
  const target = writable(request, kind);
  required(request, "duration");
  const seconds = parseDuration(text(request.input, "duration") ?? "");
  if (seconds === undefined) throw invalid({ spend_time: ["has an invalid format"] });
  if (target.total_time_spent + seconds < 0) throw invalid({ time_spent: ["Time to subtract exceeds the total time spent"] });
  target.total_time_spent += seconds;
  return created(timeStats(target));
}

function timeRows(kind: IssuableKind): Behaviour[] {
  const reset = (field: "time_estimate" | "total_time_spent") => (request: Request) => {
    const target = writable(request, kind);
    target[field] = 0;
    return ok(timeStats(target));
  };
  return [
    get(`${kind.path}/time_stats`, (request) => ok(timeStats(kind.find(request)))),
    post(`${kind.path}/time_estimate`, (request) => setEstimate(request, kind)),
    post(`${kind.path}/reset_time_estimate`, reset("time_estimate")),
    post(`${kind.path}/add_spent_time`, (request) => addSpent(request, kind)),
    post(`${kind.path}/reset_spent_time`, reset("total_time_spent")),
  ];
}

const subscription =
  (kind: IssuableKind, on: boolean) =>
  (request: Request): Reply => {
    const user = requireUser(request);
    const target = kind.find(request);
    if (isSubscribed(request, kind.type, target) === on) return { status: 304 };
    target.subscriptions.set(user.id, on);
    return created(kind.json(request, target));
  };

const todo =
  (kind: IssuableKind) =>
  (request: Request): Reply => {
    const user = requireUser(request);
    const target = kind.find(request);
    const made = addTodo(request.world, {
      user_id: user.id,
      author_id: user.id,
      project_id: target.project_id,
      action_name: "marked",
      target_type: kind.type,
      target_id: target.id,
      body: target.title,
    });
    return made ? created(todoJson(request, made)) : { status: 304 };
  };

function resourceEventJson(request: Request, event: ResourceEvent): Json {
  const { world } = request;
  const base = {
    id: event.id,
    user: userBasic(world, event.user_id),
    created_at: event.created_at,
    resource_type: event.resource_type,
    resource_id: event.resource_id,
  };
  if (event.kind === "label") {
    const label = labelsOf(world, findProject(request)).find(({ name }) => name === event.value);
    return { ...base, label: label ? labelBasic(label) : null, action: event.action };
  }
  if (event.kind === "milestone") {
    const milestone = world.milestones.find(({ id }) => id === event.value);
    return { ...base, milestone: milestone ? milestoneJson(world, milestone) : null, action: event.action };
  }
  if (event.kind === "weight") return { ...base, issue_id: event.resource_id, weight: event.value };
  if (event.kind === "iteration") return { ...base, iteration: null, action: event.action };
  return { ...base, state: event.value };
}

function resourceEventRows(kind: IssuableKind): Behaviour[] {
  const names =
    kind.type === "Issue" ? (["label", "milestone", "state", "weight", "iteration"] as const) : (["label", "milestone", "state"] as const);
  return names.flatMap((name) => {
    const path = `${kind.path}/resource_${name}_events`;
    const rows = (request: Request) => {
      const target = kind.find(request);
      return request.world.resourceEvents.filter(
        (row) => row.kind === name && row.resource_type === kind.type && row.resource_id === target.id,
      );
    };
    const one = (request: Request): Reply => {
      const event = rows(request).find(({ id }) => String(id) === request.params.event_id);
      if (!event) throw notFound();
      return ok(resourceEventJson(request, event));
    };
    return [
      get(path, (request) => paged(request, rows(request), (row) => resourceEventJson(request, row))),
      get(`${path}/{event_id}`, one),
    ];
  });
}

/** What issues and merge requests both have: comments, threads, emoji, time, subscriptions, to-do items, participants, resource events. */
export function issuableBehaviours(kind: IssuableKind): Behaviour[] {
  return [
    ...noteBehaviours(kind),
    ...emojiBehaviours(kind),
    ...timeRows(kind),
    ...resourceEventRows(kind),
    post(`${kind.path}/subscribe`, subscription(kind, true)),
    post(`${kind.path}/unsubscribe`, subscription(kind, false)),
    post(`${kind.path}/todo`, todo(kind)),
    get(`${kind.path}/participants`, (request) =>
      paged(request, usersBasic(request.world, participants(request.world, kind.type, kind.find(request))), (user) => user),
    ),
  ];
}
