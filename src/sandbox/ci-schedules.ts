import { projectLevel } from "./access.ts";
import { nextRun, scheduleFull, scheduleJson } from "./ci-json.ts";
import { ciProject, runFor } from "./ci-pipelines.ts";
import { ciOf, pipelineBasic, type Schedule, type Variable } from "./ci-state.ts";
import { badParams, forbidden, invalid, notFound } from "./errors.ts";
import { resolveRef } from "./git.ts";
import { flag, oneOf, required, text } from "./input.ts";
import { paged } from "./paging.ts";
import { accepted, created, del, get, noContent, ok, post, put } from "./reply.ts";
import { repositoryOf } from "./repository-state.ts";
import { type Behaviour, type Project, type Reply, type Request, ROLE, type User } from "./types.ts";

function findSchedule(request: Request, role: number = ROLE.none): { project: Project; schedule: Schedule } {
  const project = ciProject(request, role);
  const schedule = ciOf(request.world).schedules.find(
    (row) => row.project_id === project.id && String(row.id) === request.params.pipeline_schedule_id,
  );
  if (!schedule) throw notFound("Pipeline Schedule");
  return { project, schedule };
}

/** The schedule, for its owner alone: others, maintainers too, have to take it over first. @throws 403 */
function owned(request: Request): Schedule {
  const { schedule } = findSchedule(request, ROLE.developer);
  if (schedule.owner_id !== request.user?.id && !request.user?.admin) throw forbidden();
  return schedule;
}

function list(request: Request): Reply {
  const project = ciProject(request, request.user ? ROLE.reporter : ROLE.none);
  const scope = oneOf(request.query, "scope", ["active", "inactive"]);
  const rows = ciOf(request.world).schedules.filter(
    (row) => row.project_id === project.id && (scope === undefined || row.active === (scope === "active")),
  );
  return paged(request, rows, (row) => scheduleJson(request.world, row));
}

function detail(request: Request): Reply {
  const { project, schedule } = findSchedule(request);
  const trusted = schedule.owner_id === request.user?.id || projectLevel(request.world, request.user, project) >= ROLE.maintainer;
  return ok(scheduleFull(request.world, schedule, trusted));
}

function checkCron(request: Request): void {
  const cron = text(request.input, "cron");
  if (cron !== undefined && (cron.trim().split(/\s+/).length !== 5 || nextRun(cron, request.world.now()) === null)) {
    throw invalid({ cron: ["syntax is invalid"] });
  }
  const zone = text(request.input, "cron_timezone");
  if (zone !== undefined && !/^[A-Za-z][\w/+ ()&.-]*$/.test(zone)) throw invalid({ cron_timezone: ["syntax is invalid"] });
}

function checkRef(request: Request, project: Project): void {
  const ref = text(request.input, "ref");
  if (ref === undefined) return;
  if (!resolveRef(repositoryOf(request.world, project).git, ref)) throw invalid({ ref: ["is ambiguous or does not exist"] });
}

function create(request: Request): Reply {
  const project = ciProject(request, ROLE.developer);
  required(request, "description", "ref", "cron");
  checkCron(request);
  checkRef(request, project);
  const { world } = request;
  const schedule: Schedule = {
    id: world.nextId("pipeline-schedule"),
    project_id: project.id,
    description: text(request.input, "description") ?? "",
    ref: text(request.input, "ref") ?? "",
    cron: text(request.input, "cron") ?? "",
    cron_timezone: text(request.input, "cron_timezone") ?? "UTC",
    active: flag(request.input, "active") ?? true,
    owner_id: (request.user as User).id,
    created_at: world.now(),
    updated_at: world.now(),
    variables: [],
  };
  ciOf(world).schedules.push(schedule);
  return created(scheduleFull(world, schedule, true));
}

function update(request: Request): Reply {
  const schedule = owned(request);
  checkCron(request);
  checkRef(request, ciProject(request));
  for (const name of ["description", "ref", "cron", "cron_timezone"] as const) schedule[name] = text(request.input, name) ?? schedule[name];
  schedule.active = flag(request.input, "active") ?? schedule.active;
  schedule.updated_at = request.world.now();
  return ok(scheduleFull(request.world, schedule, true));
}

function remove(request: Request): Reply {
  const { project, schedule } = findSchedule(request, ROLE.developer);
  const mine = schedule.owner_id === request.user?.id;
  if (!mine && projectLevel(request.world, request.user, project) < ROLE.maintainer) throw forbidden();
  const { schedules } = ciOf(request.world);
  schedules.splice(schedules.indexOf(schedule), 1);
  return noContent();
}

function takeOver(request: Request): Reply {
  const { schedule } = findSchedule(request, ROLE.maintainer);
  schedule.owner_id = (request.user as User).id;
  schedule.updated_at = request.world.now();
  return created(scheduleFull(request.world, schedule, true));
}

function play(request: Request): Reply {
  const { project, schedule } = findSchedule(request, ROLE.developer);
  runFor(request, project, schedule.ref, "schedule", request.user as User, schedule.variables, schedule.id);
  return created({ message: "201 Created" });
}

function pipelines(request: Request): Reply {
  const { schedule } = findSchedule(request);
  const rows = ciOf(request.world).pipelines.filter((row) => row.schedule_id === schedule.id);
  return paged(
    request,
    rows.sort((a, b) => b.id - a.id),
    (row) => pipelineBasic(request.world, row),
  );
}

function findVariable(request: Request): { schedule: Schedule; variable: Variable } {
  const schedule = owned(request);
  const variable = schedule.variables.find(({ key }) => key === request.params.key);
  if (!variable) throw notFound("Pipeline Schedule Variable");
  return { schedule, variable };
}

function addVariable(request: Request): Reply {
  const schedule = owned(request);
  required(request, "key", "value");
  const key = text(request.input, "key") ?? "";
  if (!/^\w+$/.test(key)) throw badParams("key is invalid");
  if (schedule.variables.some((row) => row.key === key)) throw invalid({ variables: [`have duplicate values (${key})`] });
  const variable = {
    key,
    value: text(request.input, "value") ?? "",
    variable_type: oneOf(request.input, "variable_type", ["env_var", "file"]) ?? "env_var",
    raw: false,
  };
  schedule.variables.push(variable);
  return created(variable);
}

function changeVariable(request: Request): Reply {
  const { variable } = findVariable(request);
  variable.value = text(request.input, "value") ?? variable.value;
  variable.variable_type = oneOf(request.input, "variable_type", ["env_var", "file"]) ?? variable.variable_type;
  return ok(variable);
}

function removeVariable(request: Request): Reply {
  const { schedule, variable } = findVariable(request);
  schedule.variables.splice(schedule.variables.indexOf(variable), 1);
  return accepted(variable);
}

const ALL = "/projects/{project_id}/pipeline_schedules";
const ONE = `${ALL}/{pipeline_schedule_id}`;

export const scheduleBehaviours: readonly Behaviour[] = [
  get(ALL, list),
  post(ALL, create),
  get(ONE, detail),
  put(ONE, update),
  del(ONE, remove),
  post(`${ONE}/take_ownership`, takeOver),
  post(`${ONE}/play`, play),
  get(`${ONE}/pipelines`, pipelines),
  post(`${ONE}/variables`, addVariable),
  get(`${ONE}/variables/{key}`, (request) => ok(findVariable(request).variable)),
  put(`${ONE}/variables/{key}`, changeVariable),
  del(`${ONE}/variables/{key}`, removeVariable),
];
