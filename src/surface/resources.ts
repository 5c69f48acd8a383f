import { ResourceNotFoundError } from "@modelcontextprotocol/server";
import type { CallContext, Outcome } from "../catalog/types.ts";
import type { Connection } from "./connection.ts";
import { toolOf } from "./dispatcher.ts";
import { mayRead, read, requirePermitted, requireReads, toText, WHOLE_DIFF } from "./reading.ts";
import { annotationsFor, fullSchema, signatureFor } from "./signature.ts";
import { toolsetRows } from "./tools/list-available-toolsets.ts";

type Values = Readonly<Record<string, string>>;

/** A kind of thing that people attach to a conversation. Its variables are the parameters of its reads. */
interface Template {
  readonly name: string;
  readonly uriTemplate: string;
  readonly description?: string;
  readonly reads: readonly string[];
  /** Further actions that give back such a thing, or make or change one. */
  readonly also?: readonly string[];
  /** Fields of what they give back that are variables where the call did not name them. */
  readonly fields?: Readonly<Record<string, string>>;
  /** Beside the variables, for the actions that take them. */
  readonly params?: Readonly<Record<string, Readonly<Record<string, unknown>>>>;
}

const PROJECT = "gitlab://projects/{project_id}";

export const TEMPLATES: readonly Template[] = [
  {
    name: "issue",
    uriTemplate: `${PROJECT}/issues/{issue_iid}`,
    reads: ["issue.get"],
    also: ["issue.create", "issue.update"],
    fields: { issue_iid: "iid" },
  },
  {
    name: "merge request with diff",
    uriTemplate: `${PROJECT}/merge_requests/{merge_request_iid}`,
    reads: ["merge_request.overview", "merge_request.diff_show"],
    also: ["merge_request.get", "merge_request.create", "merge_request.update", "merge_request.merge"],
    fields: { merge_request_iid: "iid" },
    params: { "merge_request.diff_show": WHOLE_DIFF },
  },
  {
    name: "pipeline with jobs",
    uriTemplate: `${PROJECT}/pipelines/{pipeline_id}`,
    reads: ["pipeline.get", "pipeline.job_list"],
    also: ["pipeline.latest_get", "pipeline.create", "pipeline.retry", "pipeline.cancel"],
    fields: { pipeline_id: "id" },
  },
  {
    name: "job log",
    uriTemplate: `${PROJECT}/jobs/{job_id}/log`,
    reads: ["job.log_get"],
    also: ["job.get", "job.retry", "job.play"],
    fields: { job_id: "id" },
  },
  {
    name: "file",
    uriTemplate: `${PROJECT}/files/{ref}/{+file_path}`,
    description: "ref with / written as %2F",
    reads: ["repository.file_raw_get"],
    also: ["repository.file_get"],
  },
  {
    name: "wiki page",
    uriTemplate: `${PROJECT}/wiki/{+slug}`,
    reads: ["wiki_page.get"],
    also: ["wiki_page.create", "wiki_page.update"],
    fields: { slug: "slug" },
  },
  {
    name: "project",
    uriTemplate: PROJECT,
    description: "project_id: number, or path with / written as %2F",
    reads: ["project.get"],
    also: ["project.create", "project.update"],
    fields: { project_id: "path_with_namespace" },
  },
];

const TOOL = /^gitlab:\/\/tools\/(.+)$/;

const LOCAL = [
  { uri: "gitlab://toolsets", name: "toolsets", mimeType: "application/json" },
  { uri: "gitlab://tools", name: "actions", mimeType: "application/json" },
];

const TOOL_TEMPLATE = { uriTemplate: "gitlab://tools/{id}", name: "action with input schema", mimeType: "application/json" };

export const listResources = (): typeof LOCAL => LOCAL;

/** Whether what people attach has addresses here. */
export const isFull = (connection: Connection) => connection.settings.capabilities === "full";

/** Deterministic and without a word to GitLab, like the list of tools: what is learned later does not change it. */
export function listTemplates(connection: Connection): readonly Readonly<Record<string, unknown>>[] {
  if (!isFull(connection)) return [TOOL_TEMPLATE];
  const kinds = TEMPLATES.filter(({ reads }) => mayRead(connection, reads, {}));
  return [
    TOOL_TEMPLATE,
    ...kinds.map(({ name, uriTemplate, description }) => ({ name, uriTemplate, ...(description ? { description } : {}) })),
  ];
}

/** Numbers are digits, a project may stand there with its slashes, the last part of an address may have some. */
const part = (name: string, rest: boolean) => {
  if (rest) return "(.+)";
  if (name === "project_id") return "(.+?)";
  return /_i?id$/.test(name) ? "(\\d+)" : "([^/]+)";
};

function toMatcher({ uriTemplate }: Template): (uri: string) => Values | undefined {
  const names: string[] = [];
  const source = uriTemplate.replace(/\{(\+?)([a-z_]+)\}/g, (_all, plus: string, name: string) => {
    names.push(name);
    return part(name, plus === "+");
  });
  const pattern = new RegExp(`^${source}$`);
  return (uri) => {
    const found = pattern.exec(uri);
    return found ? Object.fromEntries(names.map((name, at) => [name, decodeURIComponent(found[at + 1] ?? "")])) : undefined;
  };
}

const MATCHERS = TEMPLATES.map((template) => ({ template, match: toMatcher(template) }));

/** @throws ResourceNotFoundError for an address that stands for nothing. */
function parse(uri: string): { template: Template; values: Values } {
  try {
    for (const { template, match } of MATCHERS) {
      const values = match(uri);
      if (values) return { template, values };
    }
  } catch {
    // A broken percent sign: no address of ours.
  }
  throw new ResourceNotFoundError(uri);
}

type Contents = Readonly<Record<string, unknown>>;

const json = (uri: string, value: unknown): Contents => ({ uri, mimeType: "application/json", text: JSON.stringify(value) });

/** Permitted actions by toolset: `[id, tool, effect]`. */
function actionsByToolset(connection: Connection, context: CallContext): Readonly<Record<string, unknown>> {
  const facts = connection.facts.known(context);
  const rows = connection.registry.toolsets().map((toolset) => {
    const permitted = toolset.actions.filter((action) => connection.policy.permits(action, facts));
    return [toolset.name, permitted.map((action) => [action.id, toolOf(connection, action), action.effect])] as const;
  });
  return Object.fromEntries(rows.filter(([, actions]) => actions.length > 0));
}

function describeAction(connection: Connection, name: string, context: CallContext): Readonly<Record<string, unknown>> {
  const action = connection.registry.resolve(name);
  requirePermitted(connection, action.id, connection.facts.known(context));
  return {
    id: action.id,
    tool: toolOf(connection, action),
    toolset: action.toolset,
    title: action.title,
    about: action.about,
    effect: action.effect,
    annotations: annotationsFor(action),
    signature: signatureFor(connection, action),
    input_schema: fullSchema(connection, action),
  };
}

function toContents(uri: string, outcomes: readonly Outcome[]): Contents {
  const [first] = outcomes;
  if (first?.kind === "binary") return { uri, mimeType: first.mime, blob: first.base64 };
  return { uri, mimeType: "text/plain", text: outcomes.map(toText).join("\n\n") };
}

/** What stands at an address. What others wrote is framed as it is in the answers of tools. */
export async function readResource(connection: Connection, uri: string, context: CallContext): Promise<{ contents: Contents[] }> {
  if (uri === "gitlab://toolsets") return { contents: [json(uri, { toolsets: toolsetRows(connection, connection.facts.known(context)) })] };
  if (uri === "gitlab://tools") return { contents: [json(uri, actionsByToolset(connection, context))] };
  const tool = TOOL.exec(uri)?.[1];
  if (tool !== undefined) return { contents: [json(uri, describeAction(connection, tool, context))] };
  if (!isFull(connection)) throw new ResourceNotFoundError(uri);
  const { template, values } = parse(uri);
  await requireReads(connection, template.reads, context);
  const outcomes: Outcome[] = [];
  for (const action of template.reads) {
    const params = { ...values, ...template.params?.[action] };
    outcomes.push(await read(connection, { action, params }, context));
  }
  return { contents: [toContents(uri, outcomes)] };
}
