import { startSandbox } from "../sandbox/server.ts";
import { connectDemo, type DemoClient, type DemoServer } from "./demo-client.ts";
import type { Host } from "./run.ts";
import { createScreen, type Screen } from "./screen.ts";

const PROJECT = "acme/webshop";

type Json = Readonly<Record<string, unknown>>;

const first = (value: unknown): Json => ((Array.isArray(value) ? value[0] : undefined) ?? {}) as Json;

/** One part of the demo: a connection with some flags, and what is to be seen on it. */
interface Part {
  readonly flags: readonly string[];
  readonly show: (client: DemoClient, screen: Screen) => Promise<void>;
}

async function showList(client: DemoClient, screen: Screen): Promise<void> {
  screen.title("All of GitLab behind five tools");
  const { names, tokens } = await client.list();
  screen.line(names.join("\n"));
  screen.check(names.length === 5, `five tools, about ${tokens} tokens`);
  const toolsets = await client.call("list_available_toolsets", {});
  screen.line(toolsets.text);
  screen.check(!toolsets.isError, "list_available_toolsets shows what there is");
}

async function showProgressive(client: DemoClient, screen: Screen): Promise<void> {
  screen.title("Progressive loading: inspect, enable, be told, call by name");
  const tools = await client.call("get_toolset_tools", { toolset: "ci" });
  screen.line(tools.text.split("\n").slice(0, 6).join("\n"));
  const enabled = await client.call("enable_toolset", { toolset: "ci" });
  screen.check(first(enabled.json.toolsets).status === "enabled", "enable_toolset ci: enabled");
  screen.check(client.changes() === 1, "one tools/list_changed arrived, and the client listed again");
  screen.check(
    enabled.json.client_refreshed === true,
    `client_refreshed: ${enabled.json.client_refreshed}, call_via: ${enabled.json.call_via}`,
  );
  const { names } = await client.list();
  screen.check(names.includes("list_pipelines"), `the list has ${names.length} tools now`);
  const pipelines = await client.call("list_pipelines", { project_id: PROJECT, limit: 3 });
  screen.line(pipelines.text);
  screen.check(!pipelines.isError, "list_pipelines answers by name");
}

async function showDynamic(client: DemoClient, screen: Screen): Promise<void> {
  screen.title("Find and execute: the same without a longer list");
  const found = await client.call("gitlab_find_action", { query: "list the latest pipelines" });
  screen.line(found.text);
  const { id } = first(found.json.results);
  screen.check(id === "pipeline.list", `gitlab_find_action puts ${id} first`);
  const executed = await client.call("gitlab_execute_action", { action: id, params: { project_id: PROJECT, limit: 3 } });
  screen.check(!executed.isError && Array.isArray(executed.json.items), "gitlab_execute_action gives the same rows");
}

async function showWhy(client: DemoClient, screen: Screen): Promise<void> {
  screen.title("Why did main fail?");
  const found = await client.call("gitlab_find_action", { query: "why did the pipeline of main fail" });
  const { id } = first(found.json.results);
  screen.check(id === "pipeline.explain_failure", `gitlab_find_action puts ${id} first`);
  const told = await client.call("gitlab_execute_action", { action: id, params: { project_id: PROJECT } });
  screen.line(told.text.split("\n").slice(0, 24).join("\n"));
  screen.check(
    !told.isError && /AssertionError|Expected|expected/.test(told.text),
    "failed jobs with the telling lines of their logs, in two calls",
  );
}

async function showSafeMode(client: DemoClient, screen: Screen): Promise<void> {
  screen.title("Safe mode: a write is shown, not sent");
  const preview = await client.call("create_issue", { project_id: PROJECT, title: "Checkout is slow", labels: ["bug"] });
  screen.line(preview.text);
  screen.check(preview.json.sent === false, "nothing was sent");
}

async function showReadOnly(client: DemoClient, screen: Screen): Promise<void> {
  screen.title("Read-only: a write is refused, by every way");
  const refused = await client.call("gitlab_execute_action", { action: "issue.create", params: { project_id: PROJECT, title: "No" } });
  screen.line(refused.text);
  screen.check(refused.isError && refused.json.code === "not_permitted", "not_permitted, and it says who may change that");
  const found = await client.call("gitlab_find_action", { query: "create an issue" });
  const ids = (found.json.results as readonly Json[]).map((row) => row.effect);
  screen.check(
    ids.every((effect) => effect === "read"),
    "gitlab_find_action offers only reads",
  );
}

async function showConfirm(client: DemoClient, screen: Screen): Promise<void> {
  screen.title("Destructive actions need the user's agreement");
  const params = { project_id: PROJECT, branch: "demo/throw-away" };
  const made = await client.call("gitlab_execute_action", { action: "branch.create", params: { ...params, ref: "main" } });
  screen.check(!made.isError, "a branch is created");
  const asked = await client.call("gitlab_execute_action", { action: "branch.delete", params });
  screen.line(asked.text);
  screen.check(asked.json.code === "confirmation_required", "without agreement nothing is deleted");
  const gone = await client.call("gitlab_execute_action", { action: "branch.delete", params, confirm: true });
  screen.check(!gone.isError, "with confirm: true it is");
}

const PARTS: readonly Part[] = [
  {
    flags: [],
    async show(client, screen) {
      await showList(client, screen);
      await showProgressive(client, screen);
    },
  },
  {
    flags: [],
    async show(client, screen) {
      await showDynamic(client, screen);
      await showWhy(client, screen);
      await showConfirm(client, screen);
    },
  },
  { flags: ["--safe-mode"], show: showSafeMode },
  { flags: ["--read-only"], show: showReadOnly },
];

/** One task, "the three newest pipelines", in each style; what went over the wire is counted. */
const STYLES: readonly {
  readonly name: string;
  readonly flags: readonly string[];
  readonly path: (client: DemoClient) => Promise<boolean>;
}[] = [
  {
    name: "bridge, by enabling",
    flags: [],
    async path(client) {
      await client.call("list_available_toolsets", {});
      await client.call("enable_toolset", { toolset: "ci" });
      return !(await client.call("list_pipelines", { project_id: PROJECT, limit: 3 })).isError;
    },
  },
  {
    name: "bridge, by find",
    flags: [],
    path: findAndRun,
  },
  { name: "dynamic", flags: ["--style=dynamic"], path: findAndRun },
  {
    name: "static, ci",
    flags: ["--style=static", "--toolsets=ci"],
    path: async (client) => !(await client.call("list_pipelines", { project_id: PROJECT, limit: 3 })).isError,
  },
  {
    name: "individual",
    flags: ["--style=individual"],
    path: async (client) => !(await client.call("list_pipelines", { project_id: PROJECT, limit: 3 })).isError,
  },
];

async function findAndRun(client: DemoClient): Promise<boolean> {
  const found = await client.call("gitlab_find_action", { query: "list the latest pipelines" });
  const { id } = first(found.json.results);
  return !(await client.call("gitlab_execute_action", { action: id, params: { project_id: PROJECT, limit: 3 } })).isError;
}

async function compare(server: DemoServer, screen: Screen): Promise<void> {
  screen.title("One task, the three newest pipelines, in each style (tokens estimated from the recorded traffic)");
  const rows: string[][] = [];
  for (const style of STYLES) {
    const client = await connectDemo(server, style.flags);
    await client.list();
    const ok = await style.path(client);
    const { calls, firstList, tokens } = client.record();
    await client.close();
    rows.push([style.name, String(calls), String(firstList), String(tokens)]);
    if (!ok) screen.check(false, `${style.name} did the task`);
  }
  screen.table(["style", "calls", "first list", "whole task"], rows);
}

/** `demo`: everything to be seen in a minute, on the embedded GitLab. Exit code 0 only if each step gave what it should. */
export async function demo(host: Host): Promise<void> {
  const screen = createScreen(host.colour);
  const sandbox = await startSandbox();
  const server: DemoServer = {
    command: host.node,
    args: [host.script, "--settle=10000"],
    env: { GITLAB_URL: sandbox.url, GITLAB_TOKEN: sandbox.tokens.maria },
  };
  console.log(`GitLab toolset bridge: a tour on an embedded GitLab (${sandbox.url}), no account and no token needed.`);
  try {
    for (const part of PARTS) {
      const client = await connectDemo(server, part.flags);
      await part.show(client, screen).finally(() => client.close());
    }
    await compare(server, screen);
  } finally {
    await sandbox.close();
  }
  const failed = screen.failures.length;
  console.log(failed === 0 ? "\nEverything did what it should." : `\n${failed} step(s) did not do what they should.`);
  host.exit(failed === 0 ? 0 : 1);
}
