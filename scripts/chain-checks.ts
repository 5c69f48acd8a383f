import { readFileSync } from "node:fs";
import { join } from "node:path";
import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { ToolListChangedNotificationSchema } from "@modelcontextprotocol/sdk/types.js";
import { type Chain, type ChainRow, LOG_DIRECTORY, NotUp } from "./chains.ts";

export type Result = boolean | string;

/** What is looked at, in the order of the table; `ours` must hold behind every aggregator. */
export const CHECKS = {
  list: { ours: true, about: "the list arrives whole, with schemas and annotations" },
  execute: { ours: true, about: "find, then execute, from any session" },
  forms: { ours: true, about: "text and structured content both arrive" },
  byName: { ours: true, about: "enable, then call by name, without asking for the list again" },
  notified: { ours: false, about: "the client is told that its list changed" },
  relisted: { ours: false, about: "the list then holds what was enabled" },
  own: { ours: false, about: "another client's list stays as it was" },
  answers: { ours: false, about: "two clients at the same time get their own answers" },
  progress: { ours: false, about: "progress" },
  cancel: { ours: false, about: "a cancel reaches the server at the far end" },
} as const;

export type CheckName = keyof typeof CHECKS;
export type Results = Partial<Record<CheckName, Result>>;

type Json = Record<string, unknown>;

/** How long what must hold may take to do so on a busy machine (ms). */
const PATIENCE = 60_000;
/** One call. */
const LONGEST = 120_000;

interface Session {
  readonly client: Client;
  changes(): number;
  names(): Promise<string[]>;
  /** By the bridge's own name for the tool. */
  call(tool: string, args: Json, options?: Json): Promise<{ text: string; json: Json; isError: boolean }>;
}

async function open(chain: Chain, { prefix = "" }: Pick<ChainRow, "prefix">): Promise<Session> {
  const client = new Client({ name: "chain-test", version: "1.0.0" });
  let changes = 0;
  client.setNotificationHandler(ToolListChangedNotificationSchema, () => {
    changes++;
  });
  await client.connect(chain.connect(), { timeout: LONGEST });
  return {
    client,
    changes: () => changes,
    names: async () => (await client.listTools({}, { timeout: LONGEST })).tools.map(({ name }) => name),
    async call(tool, args, options = {}) {
      const result = (await client.callTool({ name: `${prefix}${tool}`, arguments: args }, undefined, {
        timeout: LONGEST,
        ...options,
      })) as Json;
      const content = (result.content ?? []) as { text?: string }[];
      return {
        text: content.map(({ text }) => text ?? "").join("\n"),
        json: (result.structuredContent ?? {}) as Json,
        isError: result.isError === true,
      };
    },
  };
}

async function until(holds: () => boolean | Promise<boolean>, ms = 5_000): Promise<boolean> {
  const end = Date.now() + ms;
  for (;;) {
    if (await holds()) return true;
    if (Date.now() > end) return false;
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
}

const FIVE = ["list_available_toolsets", "get_toolset_tools", "enable_toolset", "gitlab_find_action", "gitlab_execute_action"];
const PROJECT = { project_id: "acme/webshop" };

async function checkList({ client }: Session, prefix: string): Promise<Result> {
  const { tools } = await client.listTools({}, { timeout: LONGEST });
  return FIVE.every((name) => {
    const tool = tools.find((one) => one.name === `${prefix}${name}`);
    return (
      tool?.inputSchema.type === "object" &&
      (tool.annotations?.readOnlyHint !== undefined || tool.annotations?.destructiveHint !== undefined)
    );
  });
}

async function checkExecute(session: Session): Promise<Pick<Results, "execute" | "forms">> {
  const found = await session.call("gitlab_find_action", { query: "list merge requests" });
  const ran = await session.call("gitlab_execute_action", { action: "merge_request.list", params: PROJECT });
  const execute = !found.isError && !ran.isError && found.text.includes("merge_request.list");
  return { execute, forms: execute && Array.isArray(ran.json.items) && Array.isArray(found.json.results) && ran.text.length > 50 };
}

async function checkEnable(
  session: Session,
  other: Session,
  { prefix = "", viaExecute }: ChainRow,
): Promise<Pick<Results, "byName" | "notified" | "relisted" | "own">> {
  const before = await other.names();
  const told = session.changes();
  await session.call("enable_toolset", { toolset: "ci" });
  // An aggregator with a list of its own takes a moment until it knows the tool; the client itself asks for nothing.
  const byName = await until(
    () =>
      session.call("list_pipelines", PROJECT).then(
        ({ isError, json }) => !isError && Array.isArray(json.items),
        () => false,
      ),
    viaExecute === undefined ? PATIENCE : 3_000,
  );
  const notified = await until(() => session.changes() > told, 3_000);
  const name = `${prefix}list_pipelines`;
  const relisted = await until(async () => (await session.names()).includes(name), notified ? 3_000 : 500);
  return { byName, notified, relisted, own: JSON.stringify(await other.names()) === JSON.stringify(before) };
}

async function checkAnswers(one: Session, other: Session): Promise<Result> {
  const ask = async (session: Session, who: string) => {
    const texts = Array.from({ length: 10 }, (_, index) => `${who} ${index}`);
    const replies = await Promise.all(
      texts.map((text) => session.call("gitlab_execute_action", { action: "fix.echo", params: { text } }, { timeout: 20_000 })),
    );
    // Its own line, in the frame that answers of other servers stand in.
    return replies.every(({ text }, index) => text.split("\n").includes(`legacy: ${texts[index]}`));
  };
  const results = await Promise.all([ask(one, "one"), ask(other, "other")].map((result) => result.catch(() => false)));
  return results.every(Boolean);
}

async function checkProgress(session: Session): Promise<Result> {
  let seen = 0;
  const onprogress = () => {
    seen++;
  };
  await session.call("gitlab_execute_action", { action: "fix.slow", params: { steps: 4, ms: 30 } }, { onprogress });
  return until(() => seen > 0, 1_000);
}

async function checkCancel(session: Session, name: string): Promise<Result> {
  const log = join(LOG_DIRECTORY, `${name.replaceAll(/\W+/g, "-")}.log`);
  const read = () => readFileSync(log, { encoding: "utf8", flag: "a+" });
  const stop = new AbortController();
  const call = session.call("gitlab_execute_action", { action: "fix.hang", params: { log } }, { signal: stop.signal });
  setTimeout(() => stop.abort(), 1_500);
  await call.catch(() => {});
  return until(() => read().includes("cancelled"), 5_000);
}

/** Everything about one aggregator; what throws did not hold. @throws NotUp where there is nothing to look at */
export async function runChecks(row: ChainRow): Promise<Results> {
  const { prefix = "" } = row;
  const chain = await row.start().catch((error: Error) => {
    throw error instanceof NotUp ? error : new NotUp(error.message);
  });
  const results: Results = {};
  const attempt = async (name: CheckName, run: () => Promise<Results>) => {
    try {
      Object.assign(results, await run());
    } catch (error) {
      results[name] ??= false;
      console.error(`  ${row.name}, ${name}: ${(error as Error).message.slice(0, 200)}`);
    }
  };
  const sessions: Session[] = [];
  try {
    const one = await open(chain, row).catch((error: Error) => {
      throw new NotUp(`no client can connect: ${error.message.slice(0, 300)}`);
    });
    sessions.push(one);
    await attempt("list", async () => ({ list: await checkList(one, prefix) }));
    await attempt("execute", () => checkExecute(one));
    await attempt("progress", async () => ({ progress: await checkProgress(one) }));
    await attempt("cancel", async () => ({ cancel: await checkCancel(one, row.name) }));
    let other: Session | undefined;
    await attempt("own", async () => {
      other = await open(chain, row);
      sessions.push(other);
      return {};
    });
    const second = other ?? one;
    await attempt("byName", () => checkEnable(one, second, row));
    if (other) await attempt("answers", async () => ({ answers: await checkAnswers(one, second) }));
  } finally {
    for (const { client } of sessions)
      await Promise.race([client.close().catch(() => {}), new Promise((resolve) => setTimeout(resolve, 5_000))]);
    await chain.stop();
  }
  return results;
}
