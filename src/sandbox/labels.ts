import { ancestry, findGroup, findProject, groupOf, projectLevel, requireUser } from "./access.ts";
import { labelBasic } from "./entities-planning.ts";
import { failure, invalid, notFound } from "./errors.ts";
import { atLeastOne, flag, integer, required, text, texts } from "./input.ts";
import { paged } from "./paging.ts";
import { created, del, get, noContent, ok, post, put } from "./reply.ts";
import { type Behaviour, type Json, type Label, type Project, type Reply, type Request, ROLE, type World } from "./types.ts";

/** Labels that a project may use: its own and those of the groups above it. */
export function labelsOf(world: World, project: Project): Label[] {
  const groups = ancestry(world, groupOf(world, project)).map(({ id }) => id);
  return world.labels.filter((label) => (label.source === "project" ? label.source_id === project.id : groups.includes(label.source_id)));
}

/** Makes the labels that do not exist, as GitLab does in silence when an issue names them. Answers the names made. */
export function ensureLabels(world: World, project: Project, names: readonly string[]): string[] {
  const known = new Set(labelsOf(world, project).map(({ name }) => name.toLowerCase()));
  const fresh = [...new Set(names)].filter((name) => !known.has(name.toLowerCase()));
  for (const name of fresh) {
    world.labels.push({
      id: world.nextId("label"),
      source: "project",
      source_id: project.id,
      name,
      color: "#6699cc",
      description: null,
      priority: null,
      subscribers: [],
    });
  }
  return fresh;
}

/** The labels after `labels`, `add_labels` and `remove_labels`; undefined where none of them is there. New ones are made. */
export function changedLabels(request: Request, project: Project, current: readonly string[]): string[] | undefined {
  const [all, add, remove] = ["labels", "add_labels", "remove_labels"].map((name) => texts(request.input, name));
  if (!all && !add && !remove) return undefined;
  const gone = new Set((remove ?? []).map((name) => name.toLowerCase()));
  const wanted = [...new Set([...(all ?? current), ...(add ?? [])])].filter((name) => !gone.has(name.toLowerCase()));
  ensureLabels(request.world, project, wanted);
  const known = new Map(labelsOf(request.world, project).map(({ name }) => [name.toLowerCase(), name]));
  return wanted.map((name) => known.get(name.toLowerCase()) ?? name).sort();
}

/** Names, or whole labels with `with_labels_details`. */
export function shownLabels(request: Request, project: Project | undefined, names: readonly string[]): unknown[] {
  if (!project || flag(request.query, "with_labels_details") !== true) return [...names];
  const labels = labelsOf(request.world, project);
  return names.flatMap((name) => labels.filter((label) => label.name === name).map(labelBasic));
}

function counts(request: Request, label: Label): Json {
  if (flag(request.query, "with_counts") !== true) return {};
  const having = request.world.issues.filter(({ labels }) => labels.includes(label.name));
  return {
    open_issues_count: having.filter(({ state }) => state === "opened").length,
    closed_issues_count: having.filter(({ state }) => state === "closed").length,
    open_merge_requests_count: 0,
  };
}

function labelJson(request: Request, label: Label, inProject: boolean): Json {
  return {
    ...labelBasic(label),
    ...counts(request, label),
    subscribed: request.user !== undefined && label.subscribers.includes(request.user.id),
    ...(inProject ? { priority: label.priority, is_project_label: label.source === "project" } : {}),
  };
}

interface Home {
  readonly source: "project" | "group";
  readonly id: number;
  readonly labels: Label[];
}

function home(request: Request, role: number = ROLE.none): Home {
  if (request.params.project_id !== undefined) {
    const project = findProject(request, role);
    const shown = labelsOf(request.world, project);
    const own = flag(request.query, "include_ancestor_groups") === false;
    return { source: "project", id: project.id, labels: own ? shown.filter(({ source }) => source === "project") : shown };
  }
  const group = findGroup(request, role);
  const groups = ancestry(request.world, group).map(({ id }) => id);
  return {
    source: "group",
    id: group.id,
    labels: request.world.labels.filter((row) => row.source === "group" && groups.includes(row.source_id)),
  };
}

function one(request: Request, role: number = ROLE.none): { label: Label; at: Home } {
  const at = home(request, role);
  const key = request.params.label_id ?? text(request.input, "label_id") ?? text(request.input, "name") ?? "";
  const label = at.labels.find(({ id, name }) => String(id) === key || name === key);
  if (!label) throw notFound("Label");
  return { label, at };
}

const byName = (one: Label, other: Label) => one.name.localeCompare(other.name, "en");

function list(request: Request): Reply {
  const at = home(request);
  const search = text(request.query, "search")?.toLowerCase();
  const rows = at.labels.filter(({ name, description }) => !search || `${name} ${description ?? ""}`.toLowerCase().includes(search));
  return paged(request, rows.sort(byName), (label) => labelJson(request, label, at.source === "project"));
}

const COLORS: Readonly<Record<string, string>> = {
  red: "#FF0000",
  green: "#008000",
  blue: "#0000FF",
  orange: "#FFA500",
  purple: "#800080",
};

function color(request: Request, name: string): string | undefined {
  const sent = text(request.input, name);
  if (sent === undefined) return undefined;
  const known = COLORS[sent.toLowerCase()] ?? sent;
  if (!/^#([0-9a-f]{3}|[0-9a-f]{6})$/i.test(known)) throw invalid({ color: ["must be a valid color code"] });
  return known;
}

function create(request: Request): Reply {
  const at = home(request, ROLE.planner);
  required(request, "name", "color");
  const name = text(request.input, "name") ?? "";
  if (at.labels.some((label) => label.name === name && label.source === at.source)) throw failure(409, "Label already exists");
  if (name === "") throw invalid({ title: ["can't be blank", "is invalid"] });
  const label: Label = {
    id: request.world.nextId("label"),
    source: at.source,
    source_id: at.id,
    name,
    color: color(request, "color") ?? "#6699cc",
    description: text(request.input, "description") ?? null,
    priority: integer(request.input, "priority") ?? null,
    subscribers: [],
  };
  request.world.labels.push(label);
  return created(labelJson(request, label, at.source === "project"));
}

function update(request: Request): Reply {
  const { label, at } = one(request, ROLE.planner);
  atLeastOne(request, ["new_name", "color", "description", "priority", "archived"]);
  const name = text(request.input, "new_name");
  if (name !== undefined && name !== label.name) {
    if (at.labels.some((other) => other.name === name)) throw invalid({ title: ["has already been taken"] });
    for (const issue of request.world.issues) issue.labels = issue.labels.map((old) => (old === label.name ? name : old));
    label.name = name;
  }
  label.color = color(request, "color") ?? label.color;
  label.description = text(request.input, "description") ?? label.description;
  if ("priority" in request.input) label.priority = integer(request.input, "priority") ?? null;
  return ok(labelJson(request, label, at.source === "project"));
}

function remove(request: Request): Reply {
  const { label } = one(request, ROLE.planner);
  request.world.labels.splice(request.world.labels.indexOf(label), 1);
  for (const issue of request.world.issues) issue.labels = issue.labels.filter((name) => name !== label.name);
  return noContent();
}

function subscription(on: boolean) {
  return (request: Request): Reply => {
    const user = requireUser(request);
    const { label, at } = one(request);
    if (label.subscribers.includes(user.id) === on) return { status: 304 };
    label.subscribers = on ? [...label.subscribers, user.id] : label.subscribers.filter((id) => id !== user.id);
    return created(labelJson(request, label, at.source === "project"));
  };
}

function promote(request: Request): Reply {
  const { label } = one(request, ROLE.planner);
  const project = findProject(request);
  const group = groupOf(request.world, project);
  if (!group || label.source === "group") throw notFound("Label");
  if (projectLevel(request.world, request.user, project) < ROLE.reporter) throw failure(403, "403 Forbidden");
  label.source = "group";
  label.source_id = group.id;
  return ok(labelJson(request, label, false));
}

const rows = (base: string): Behaviour[] => [
  get(`${base}/labels`, list),
  post(`${base}/labels`, create),
  put(`${base}/labels`, update),
  del(`${base}/labels`, remove),
  get(`${base}/labels/{label_id}`, (request) => {
    const { label, at } = one(request);
    return ok(labelJson(request, label, at.source === "project"));
  }),
  put(`${base}/labels/{label_id}`, update),
  del(`${base}/labels/{label_id}`, remove),
  post(`${base}/labels/{label_id}/subscribe`, subscription(true)),
  post(`${base}/labels/{label_id}/unsubscribe`, subscription(false)),
];

export const labelBehaviours: readonly Behaviour[] = [
  ...rows("/projects/{project_id}"),
  ...rows("/groups/{group_id}"),
  put("/projects/{project_id}/labels/{label_id}/promote", promote),
];
