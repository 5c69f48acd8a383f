import { ProtocolError, ProtocolErrorCode } from "@modelcontextprotocol/server";
import type { CallContext } from "../catalog/types.ts";
import { nearest } from "../nearest.ts";
import type { Connection } from "./connection.ts";
import { mayRead, type Read, read, requireReads, toText, WHOLE_DIFF } from "./reading.ts";

/** What an argument stands for: where its values come from. */
export type Kind = "project" | "branch" | "tag" | "label" | "milestone" | "user" | "issue" | "merge_request" | "pipeline" | "job";

type Args = Readonly<Record<string, string | undefined>>;

interface Argument {
  readonly name: string;
  readonly description?: string;
  readonly required?: boolean;
  readonly completes: Kind;
}

/** A job that people repeat: what to read for it, and what to make of it. */
interface PromptRow {
  readonly name: string;
  readonly title: string;
  readonly description: string;
  readonly arguments: readonly Argument[];
  /** Every action that it reads with. */
  readonly needs: readonly string[];
  readonly reads: (args: Args) => readonly Read[];
  /** `can`: the action may be used by this caller, so that it may be named. */
  readonly ask: (args: Args, can: (id: string) => boolean) => string;
}

/** The current project stands in where there is one; the list says then that it need not be given. */
const PROJECT: Argument = { name: "project", required: true, completes: "project" };

const given = (values: Readonly<Record<string, unknown>>) =>
  Object.fromEntries(Object.entries(values).filter(([, value]) => value !== undefined && value !== ""));

const within = ({ project }: Args, values: Readonly<Record<string, unknown>> = {}) => given({ project_id: project, ...values });
const where = ({ project }: Args) => (project ? ` of ${project}` : "");

export const PROMPTS: readonly PromptRow[] = [
  {
    name: "review_merge_request",
    title: "Review a merge request",
    description: "Overview and diff, with what to look for",
    arguments: [PROJECT, { name: "merge_request_iid", description: "Number after !", required: true, completes: "merge_request" }],
    needs: ["merge_request.overview", "merge_request.diff_show"],
    reads: (args) => {
      const params = within(args, { merge_request_iid: args.merge_request_iid });
      return [
        { action: "merge_request.overview", params },
        { action: "merge_request.diff_show", params: { ...params, ...WHOLE_DIFF } },
      ];
    },
    ask: (args, can) =>
      `Review merge request !${args.merge_request_iid}${where(args)}. Its overview and diff follow. Look for bugs, missing tests, security, and code that is hard to follow. List the findings, worst first, each with file, line and a better way. Say so if it is good as it is. Write nothing to GitLab before the user has seen them.${
        can("merge_request.review") ? " Then the action merge_request.review can post the comments and approve." : ""
      }`,
  },
  {
    name: "explain_failed_pipeline",
    title: "Explain a failed pipeline",
    description: "The failed jobs and the telling lines of their logs",
    arguments: [
      PROJECT,
      { name: "ref", description: "Default branch if absent", completes: "branch" },
      { name: "pipeline_id", completes: "pipeline" },
    ],
    needs: ["pipeline.explain_failure"],
    reads: (args) => [{ action: "pipeline.explain_failure", params: within(args, { ref: args.ref, pipeline_id: args.pipeline_id }) }],
    ask: (args, can) =>
      `Explain why the pipeline${args.pipeline_id ? ` ${args.pipeline_id}` : ""}${args.ref ? ` on ${args.ref}` : ""}${where(args)} failed. What was read of it follows. Name the first cause, the job and the line that shows it, and what would fix it; keep a fault of the runner apart from a fault of the code.${
        can("job.log_get") ? " If the lines are not enough, read more with the action job.log_get." : ""
      }`,
  },
  {
    name: "triage_issues",
    title: "Triage issues",
    description: "Open issues and the project's labels",
    arguments: [PROJECT, { name: "label", completes: "label" }, { name: "assignee", completes: "user" }],
    needs: ["issue.list", "label.list"],
    reads: (args) => [
      { action: "issue.list", params: within(args, { state: "opened", labels: args.label, assignee_username: args.assignee, limit: 40 }) },
      { action: "label.list", params: within(args, { limit: 100 }) },
    ],
    ask: (args, can) =>
      `Triage the open issues${where(args)}. They follow, and after them the labels that exist. For each: which labels fit, how urgent it is, whether it repeats another one, and what is missing to act on it. Use no label that does not exist. Show a table and wait for the user's yes.${
        can("issue.update") ? " Changes are then made with the action issue.update." : ""
      }`,
  },
  {
    name: "write_release_notes",
    title: "Write release notes",
    description: "What was merged since the last tag",
    arguments: [PROJECT, { name: "from", description: "Last tag if absent", completes: "tag" }, { name: "to", completes: "branch" }],
    needs: ["release.notes_draft"],
    reads: (args) => [{ action: "release.notes_draft", params: within(args, { from: args.from, to: args.to }) }],
    ask: (args, can) =>
      `Write release notes${where(args)} for the people who use it. A draft from the merged requests and commits follows. Group by what changes for them, leave out what they cannot notice, put breaking changes first, keep the references. Show the notes and wait for the user's yes.${
        can("release.create") ? " The action release.create then makes the release." : ""
      }`,
  },
  {
    name: "plan_milestone",
    title: "Plan a milestone",
    description: "Its dates, its open issues, and issues without a milestone",
    arguments: [PROJECT, { name: "milestone", description: "Title", required: true, completes: "milestone" }],
    needs: ["milestone.list", "issue.list"],
    reads: (args) => [
      { action: "milestone.list", params: within(args, { title: args.milestone }) },
      { action: "issue.list", params: within(args, { state: "opened", milestone: args.milestone, limit: 50 }) },
      { action: "issue.list", params: within(args, { state: "opened", milestone: "None", limit: 30 }) },
    ],
    ask: (args, can) =>
      `Plan the milestone ${args.milestone}${where(args)}. The milestone, its open issues and the open issues without a milestone follow. Say what fits until its end, what should leave it and what should come in, in which order, and who has too much. Show the plan and wait for the user's yes.${
        can("issue.update") ? " Changes are then made with the action issue.update." : ""
      }`,
  },
];

function toListed(row: PromptRow, hasProject: boolean): Readonly<Record<string, unknown>> {
  const listed = row.arguments.map(({ completes: _completes, required, ...argument }) => ({
    ...argument,
    ...(required && !(argument.name === "project" && hasProject) ? { required } : {}),
  }));
  return { name: row.name, title: row.title, description: row.description, arguments: listed };
}

/** The jobs whose reads are all permitted. */
export function listPrompts(connection: Connection): readonly Readonly<Record<string, unknown>>[] {
  const hasProject = connection.project() !== undefined;
  return PROMPTS.filter(({ needs }) => mayRead(connection, needs, {})).map((row) => toListed(row, hasProject));
}

const wrong = (message: string) => new ProtocolError(ProtocolErrorCode.InvalidParams, message);

/** @throws ProtocolError -32602 with the nearest name. */
export function promptNamed(name: string): PromptRow {
  const found = PROMPTS.find((row) => row.name === name);
  if (found) return found;
  const near = nearest(
    name,
    PROMPTS.map((row) => row.name),
  );
  throw wrong(`There is no prompt "${name.slice(0, 100)}".${near.length > 0 ? ` Nearest: ${near.join(", ")}.` : ""}`);
}

function checkArgs(row: PromptRow, args: Args): void {
  const names = row.arguments.map((argument) => argument.name);
  const unknown = Object.keys(args).filter((name) => !names.includes(name));
  if (unknown.length > 0) throw wrong(`${row.name} takes ${names.join(", ")}, not ${unknown.join(", ")}.`);
  const missing = row.arguments.filter(({ name, required }) => required && !args[name]).map(({ name }) => name);
  if (missing.length > 0) throw wrong(`${row.name} needs ${missing.join(" and ")}.`);
}

const message = (text: string) => ({ role: "user", content: { type: "text", text } });

/** The job in words, then everything that was read for it, framed as what others wrote. */
export async function getPrompt(connection: Connection, name: string, given: Args, context: CallContext) {
  const row = promptNamed(name);
  const facts = connection.facts.known(context);
  await requireReads(connection, row.needs, context);
  const project = given.project || connection.project();
  const args = project === undefined ? given : { ...given, project };
  checkArgs(row, args);
  const found: string[] = [];
  for (const one of row.reads(args)) found.push(toText(await read(connection, one, context)));
  const can = (id: string) => mayRead(connection, [id], facts);
  return { description: row.title, messages: [row.ask(args, can), ...found].map(message) };
}
