import { ProtocolError, ProtocolErrorCode } from "@modelcontextprotocol/server";
import type { CallContext } from "../catalog/types.ts";
import { BridgeError } from "../errors.ts";
import type { Connection } from "./connection.ts";
import { type Kind, promptNamed } from "./prompts.ts";
import { type Read, read } from "./reading.ts";
import { TEMPLATES } from "./resources.ts";

interface Completer {
  readonly action: string;
  /** The field that is the value. */
  readonly field: string;
  /** GitLab searches by the typed word; else the first rows are looked through. */
  readonly searches?: true;
  readonly params?: Readonly<Record<string, unknown>>;
  /** Not asked for inside a project. */
  readonly everywhere?: true;
}

const COMPLETERS: Readonly<Record<Kind, Completer>> = {
  project: { action: "project.list", field: "path_with_namespace", searches: true, everywhere: true, params: { membership: true } },
  branch: { action: "branch.list", field: "name", searches: true },
  tag: { action: "tag.list", field: "name", searches: true },
  label: { action: "label.list", field: "name", searches: true },
  milestone: { action: "milestone.list", field: "title", searches: true, params: { state: "active" } },
  user: { action: "user.list", field: "username", searches: true, everywhere: true, params: { active: true } },
  issue: { action: "issue.list", field: "iid", params: { state: "opened" } },
  merge_request: { action: "merge_request.list", field: "iid", params: { state: "opened" } },
  pipeline: { action: "pipeline.list", field: "id" },
  job: { action: "job.list", field: "id" },
};

/** Variables of resource addresses. */
const VARIABLES: Readonly<Record<string, Kind>> = {
  project_id: "project",
  issue_iid: "issue",
  merge_request_iid: "merge_request",
  pipeline_id: "pipeline",
  job_id: "job",
  ref: "branch",
};

const MOST = 50;
/** A protocol limit. */
const MOST_VALUES = 100;

export interface CompleteRequest {
  readonly ref: { readonly type: string; readonly name?: string; readonly uri?: string };
  readonly argument: { readonly name: string; readonly value: string };
  readonly context?: { readonly arguments?: Readonly<Record<string, string>> | undefined } | undefined;
}

const wrong = (message: string) => new ProtocolError(ProtocolErrorCode.InvalidParams, message);

/** What is to be completed; undefined = an argument that has no list of values. @throws ProtocolError -32602 for an unknown one. */
function kindOf({ ref, argument }: CompleteRequest): Kind | "action" | undefined {
  if (ref.type === "ref/prompt") {
    const row = promptNamed(ref.name ?? "");
    const found = row.arguments.find((one) => one.name === argument.name);
    if (!found) throw wrong(`${row.name} has no argument ${argument.name.slice(0, 100)}.`);
    return found.completes;
  }
  if (ref.uri === "gitlab://tools/{id}") return "action";
  if (!TEMPLATES.some(({ uriTemplate }) => uriTemplate === ref.uri))
    throw wrong(`There is no resource template ${String(ref.uri).slice(0, 200)}.`);
  return VARIABLES[argument.name];
}

/** Paths are searched by their last part and compared whole. */
const searchWord = (value: string) => value.split("/").at(-1) ?? "";

function toRead({ action, field, searches, everywhere, params }: Completer, value: string, project: string | undefined): Read {
  const word = searchWord(value);
  return {
    action,
    params: {
      ...params,
      ...(everywhere || project === undefined ? {} : { project_id: project }),
      ...(searches && word !== "" ? { search: word } : {}),
      limit: MOST,
      select: [field],
    },
  };
}

async function valuesOf(connection: Connection, kind: Kind, request: CompleteRequest, context: CallContext): Promise<readonly string[]> {
  const completer = COMPLETERS[kind];
  const others = request.context?.arguments ?? {};
  const project = others.project ?? others.project_id ?? connection.project();
  const { value } = request.argument;
  const outcome = await read(connection, toRead(completer, value, project), context);
  const items = outcome.kind === "list" ? (outcome.items as readonly Readonly<Record<string, unknown>>[]) : [];
  const typed = value.toLowerCase();
  const fits = (found: string) => (completer.searches ? found.toLowerCase().includes(typed) : found.startsWith(typed));
  return items.map((item) => String(item[completer.field] ?? "")).filter((found) => found !== "" && fits(found));
}

function actionIds(connection: Connection, typed: string, context: CallContext): readonly string[] {
  const facts = connection.facts.known(context);
  const fits = connection.registry.actions().filter((action) => action.id.includes(typed.toLowerCase()));
  return fits.filter((action) => connection.policy.permits(action, facts)).map((action) => action.id);
}

/** Values for what is being typed. A person is typing: what cannot be read, or may not be, has no values. */
export async function complete(connection: Connection, request: CompleteRequest, context: CallContext) {
  const kind = kindOf(request);
  const values =
    kind === "action"
      ? actionIds(connection, request.argument.value, context)
      : kind === undefined
        ? []
        : await valuesOf(connection, kind, request, context).catch((error: unknown) => {
            if (error instanceof BridgeError) return [];
            throw error;
          });
  return { completion: { values: values.slice(0, MOST_VALUES), hasMore: values.length > MOST_VALUES } };
}
