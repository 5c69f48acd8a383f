import { Client, InMemoryTransport } from "@modelcontextprotocol/client";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { createBridge } from "../../src/app.ts";
import { createLog } from "../../src/log.ts";
import { type Sandbox, startSandbox } from "../../src/sandbox/server.ts";
import { PROMPTS } from "../../src/surface/prompts.ts";
import { TEMPLATES } from "../../src/surface/resources.ts";
import { settingsFor } from "../support/settings.ts";

/** Stands in every name and text of the other project, and nowhere else. */
const MARK = "zqxforeign";

let sandbox: Sandbox;
const close: (() => Promise<void>)[] = [];

async function ask(path: string, body?: Record<string, unknown>): Promise<Record<string, unknown>> {
  const headers = { "PRIVATE-TOKEN": sandbox.tokens.root, "Content-Type": "application/json" };
  const reply = await fetch(`${sandbox.url}/api/v4${path}`, { headers, ...(body ? { method: "POST", body: JSON.stringify(body) } : {}) });
  if (!reply.ok) throw new Error(`${path}: ${reply.status} ${await reply.text()}`);
  return (await reply.json()) as Record<string, unknown>;
}

/** A client of a bridge that sees everything, but for its limits. */
async function connect(...flags: string[]): Promise<Client> {
  const settings = settingsFor(
    ...[
      `--url=${sandbox.url}`,
      `--token=${sandbox.tokens.maria}`,
      "--capabilities=full",
      "--confirm=off",
      "--allow-raw",
      "--tools=list_issues",
    ],
    ...flags,
  );
  const bridge = createBridge({ settings, log: createLog({ level: "silent" }), version: "0.0.0", cwd: "/" });
  const server = bridge.createServer(bridge.connect(), { era: "legacy", transport: "stdio", canTell: () => true });
  const client = new Client({ name: "scope", version: "1" });
  const [one, other] = InMemoryTransport.createLinkedPair();
  await server.connect(other as never);
  await client.connect(one);
  close.push(() => client.close());
  return client;
}

let free: Client;
let limited: Client;
let vault: number;
let job: number;
let pipeline: number;

beforeAll(async () => {
  sandbox = await startSandbox();
  close.push(() => sandbox.close());
  const made = await ask("/projects", { name: `${MARK} vault`, path: "vault", namespace_id: 10, description: MARK, visibility: "private" });
  vault = Number(made.id);
  const at = `/projects/${vault}`;
  const file = (file_path: string, content: string) => ({ action: "create", file_path, content });
  const commit = (branch: string, start: Record<string, unknown>, actions: unknown[]) =>
    ask(`${at}/repository/commits`, { branch, ...start, commit_message: MARK, actions });
  await commit("main", {}, [file("SECRET.md", MARK), file(".gitlab-ci.yml", `${MARK}:\n  script: [exit 1]\n`)]);
  await commit(`${MARK}-topic`, { start_branch: "main" }, [file("more.md", MARK)]);
  await ask(`${at}/labels`, { name: MARK, color: "#ff0000" });
  await ask(`${at}/milestones`, { title: MARK });
  await ask(`${at}/issues`, { title: MARK, description: MARK });
  await ask(`${at}/merge_requests`, { title: MARK, source_branch: `${MARK}-topic`, target_branch: "main" });
  await ask(`${at}/wikis`, { title: "home", content: MARK });
  pipeline = Number((await ask(`${at}/pipeline`, { ref: "main" })).id);
  job = Number(((await ask(`${at}/jobs`)) as unknown as { id: number }[])[0]?.id);
  free = await connect();
  limited = await connect("--allow-projects=acme/webshop");
}, 60_000);
afterAll(async () => {
  for (const one of close.toReversed()) await one();
});

/** Ways to name the other project. */
const spellings = (): string[] => [
  String(vault),
  "acme/vault",
  "acme%2Fvault",
  "acme%252Fvault",
  "ACME/Vault",
  " acme/vault ",
  "acme/vault/",
  "/acme/vault",
  "acme//vault",
  "acme/vault.git",
  "acme/vault.",
  "acme/webshop/../vault",
  "acme%2Fwebshop%2F..%2Fvault",
  "acme/webshop%2F%2E%2E%2Fvault",
  `101/../${vault}`,
  `0${vault}`,
  `${vault}.json`,
  `gid://gitlab/Project/${vault}`,
  `${sandbox.url}/acme/vault`,
  `${sandbox.url}/acme/webshop/../vault`,
  `${sandbox.url}/api/v4/projects/${vault}`,
  `git@127.0.0.1:acme/vault.git`,
  "acme/webshop,acme/vault",
  "acme/webshop\nacme/vault",
];

type Surface = (client: Client, project: string) => Promise<unknown>;

const call = (client: Client, name: string, args: Record<string, unknown>) => client.callTool({ name, arguments: args });
const execute = (client: Client, action: string, params: Record<string, unknown>) =>
  call(client, "gitlab_execute_action", { action, params });

const VALUES = (): Readonly<Record<string, string>> => ({
  issue_iid: "1",
  merge_request_iid: "1",
  pipeline_id: String(pipeline),
  job_id: String(job),
  ref: "main",
  file_path: "SECRET.md",
  slug: "home",
});

const resources: readonly (readonly [string, Surface])[] = TEMPLATES.map(({ name, uriTemplate }) => [
  `resource ${name}`,
  (client, project) =>
    client.readResource({
      uri: uriTemplate.replace(/\{\+?([a-z_]+)\}/g, (_all, part: string) => encodeURIComponent(VALUES()[part] ?? project)),
    }),
]);

const ARGS = (project: string): Readonly<Record<string, Record<string, string>>> => ({
  review_merge_request: { project, merge_request_iid: "1" },
  plan_milestone: { project, milestone: MARK },
});

const prompts: readonly (readonly [string, Surface])[] = PROMPTS.map(({ name }) => [
  `prompt ${name}`,
  (client, project) => client.getPrompt({ name, arguments: ARGS(project)[name] ?? { project } }),
]);

const completes = (argument: string, prompt: string): Surface => {
  return (client, project) =>
    client.complete({
      ref: { type: "ref/prompt", name: prompt },
      argument: { name: argument, value: "" },
      context: { arguments: { project } },
    });
};

/** Everything by which a client can ask for something of a project that it names. */
const SURFACES: readonly (readonly [string, Surface])[] = [
  ["a tool of its own", (client, project_id) => call(client, "list_issues", { project_id, full: true })],
  ["the pair", (client, project_id) => execute(client, "issue.list", { project_id, full: true })],
  ["an alias and a url", (client, url) => execute(client, "get_project", { url, full: true })],
  [
    "a batch",
    (client, project_id) => execute(client, "batch.run", { calls: [{ action: "issue.list", params: { project_id, full: true } }] }),
  ],
  ["a composite", (client, project_id) => execute(client, "merge_request.overview", { project_id, merge_request_iid: 1 })],
  ["release notes", (client, project_id) => execute(client, "release.notes_draft", { project_id, from: "main", to: `${MARK}-topic` })],
  ["a text", (client, project_id) => execute(client, "repository.file_raw_get", { project_id, file_path: "SECRET.md", ref: "main" })],
  ["a path by hand", (client, project) => execute(client, "gitlab.rest", { method: "GET", path: `/projects/${project}` })],
  [
    "an encoded path by hand",
    (client, project) => execute(client, "gitlab.rest", { method: "GET", path: `/projects/${encodeURIComponent(project)}/issues` }),
  ],
  [
    "a document by hand",
    (client, fullPath) =>
      execute(client, "gitlab.graphql", {
        document:
          "query ($p: ID!) { a: namespace(fullPath: $p) { ...f @include(if: true) } } fragment f on Namespace { workItems { nodes { title } } }",
        variables: { p: fullPath },
      }),
  ],
  ...resources,
  ...prompts,
  [
    "completion of a project",
    (client) => client.complete({ ref: { type: "ref/prompt", name: "triage_issues" }, argument: { name: "project", value: "" } }),
  ],
  ["completion of a label", completes("label", "triage_issues")],
  ["completion of a milestone", completes("milestone", "plan_milestone")],
  ["completion of a branch", completes("to", "write_release_notes")],
];

/** What tells that it was read, where the mark cannot stand in it. */
const TELLS: Readonly<Record<string, RegExp>> = {
  "release notes": /TOPIC/,
  "prompt write_release_notes": /commits/,
  "completion of a branch": /TOPIC/,
  "resource job log": /project: acme\/vault/,
  "prompt explain_failed_pipeline": /No pipeline of main in acme\/vault has finished/,
  "completion of a project": /"acme\/vault"/,
};

const shown = async (work: Promise<unknown>): Promise<string> =>
  JSON.stringify(
    await work.catch((error: { message?: string; data?: unknown }) => ({ thrown: [String(error.message), error.data] })),
  ).replaceAll(`${MARK}-topic`, "TOPIC");

describe.each(SURFACES)("where projects are limited: %s", (name, surface) => {
  it("shows nothing of another one, however it is named", async () => {
    for (const project of spellings())
      expect([project, await shown(surface(limited, project))]).toEqual([project, expect.not.stringContaining(MARK)]);
  });

  it("says nothing of what would tell of it", async () => {
    for (const project of ["acme/vault", String(vault)])
      expect(await shown(surface(limited, project))).not.toMatch(TELLS[name] ?? new RegExp(MARK));
  });

  it("would show it without the limit, so that something was tried", async () => {
    const names = ["acme/vault", "acme%2Fvault", String(vault), `${sandbox.url}/acme/vault`];
    const everything = (await Promise.all(names.map((one) => shown(surface(free, one))))).join("\n");
    expect(everything).toMatch(TELLS[name] ?? new RegExp(MARK));
  });
});
