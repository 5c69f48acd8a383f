import { Client, type ElicitRequest, type ElicitResult } from "@modelcontextprotocol/client";
import { ChildTransport } from "../upstreams/child.ts";
import { VERSION } from "../version.ts";
import type { Counter } from "./count.ts";
import { callText, createLedger } from "./ledger.ts";
import type { Beside, Host, Json, ListedTool, Refresh, Seen, Turn } from "./types.ts";

export interface HostOptions {
  readonly command: readonly string[];
  readonly env: Readonly<Record<string, string>>;
  readonly cwd: string;
  readonly refresh: Refresh;
  /** What the user wrote. */
  readonly prompt: string;
  readonly counter: Counter;
  readonly maxCalls: number;
  /** Ends the server and every call that waits. */
  readonly signal: AbortSignal;
}

/** A host with what it has seen so far. */
export interface OpenHost extends Host {
  readonly turns: readonly Turn[];
  /** Tokens of the first list. */
  readonly firstList: number;
  /** Toolsets that an answer said are enabled now. */
  readonly enabled: ReadonlySet<string>;
  /** What the user read in the end. */
  readonly said: () => string | undefined;
  readonly server: { readonly name: string; readonly version: string } | undefined;
  close(): Promise<void>;
}

const SEEN_MOST = 2_000;
const ENABLED = ["enabled", "already_enabled", "partly_enabled"];

interface Content {
  readonly type: string;
  readonly text?: string;
  readonly resource?: { readonly text?: string };
}

const textOf = ({ type, text, resource }: Content): string => text ?? resource?.text ?? `[${type}]`;

function toSeen(result: { readonly content?: unknown; readonly structuredContent?: unknown; readonly isError?: unknown }): Seen {
  const json = result.structuredContent as Json | undefined;
  const text = ((result.content ?? []) as readonly Content[]).map(textOf).join("\n");
  return { isError: result.isError === true, text: text === "" ? JSON.stringify(json ?? {}) : text, ...(json ? { json } : {}) };
}

const refused = (text: string): Seen => ({ isError: true, text });

/** The person at this host agrees to whatever is asked: what is compared is the way to the call, not the person. */
function agree({ params }: ElicitRequest): ElicitResult {
  const schema = (params as { requestedSchema?: { properties?: Record<string, { type?: string; enum?: string[] }> } }).requestedSchema;
  const fields = Object.entries(schema?.properties ?? {});
  const yes = ({ type, enum: words }: { type?: string; enum?: string[] }) =>
    type === "boolean" ? true : type === "string" ? (words?.[0] ?? "yes") : 1;
  return { action: "accept", content: Object.fromEntries(fields.map(([name, field]) => [name, yes(field)])) };
}

/** The list as this kind of host keeps it. */
function createList(client: Client, refresh: Refresh, set: (tools: readonly ListedTool[]) => void) {
  const tells = () => client.getServerCapabilities()?.tools?.listChanged === true;
  let asking: Promise<void> | undefined;
  let waits = 0;
  const ask = async () => set((await client.listTools(undefined, { cacheMode: "refresh" })).tools as unknown as readonly ListedTool[]);
  client.setNotificationHandler("notifications/tools/list_changed", () => {
    if (refresh === "next_turn") waits = 2;
    if (refresh !== "at_once") return;
    asking = (asking ?? Promise.resolve()).then(ask);
    // Whoever settles sees it fail; until then that is nobody's.
    asking.catch(() => {});
  });
  return {
    ask,
    /** After a call: what the server told beside its answer has arrived once it answers a ping; then the next turn's list is made. */
    async settle() {
      if (!tells()) return;
      await client.ping();
      await asking;
      asking = undefined;
      if (waits > 0 && --waits === 0) await ask();
    },
  };
}

const counted = ({ usage }: Beside) => (usage ? { usage } : {});

function noteEnabled(enabled: Set<string>, { json }: Seen): void {
  if (!Array.isArray(json?.toolsets)) return;
  for (const { toolset, status } of json.toolsets as readonly Json[])
    if (typeof toolset === "string" && ENABLED.includes(String(status))) enabled.add(toolset);
}

async function connect(options: HostOptions): Promise<{ client: Client; close: () => Promise<void> }> {
  const [command = "", ...args] = options.command;
  const lines: string[] = [];
  const transport = new ChildTransport({
    command,
    args,
    env: options.env,
    cwd: options.cwd,
    onLine: (line) => void (lines.push(line) > 5 && lines.shift()),
  });
  const client = new Client({ name: "ab", version: VERSION }, { capabilities: { elicitation: { form: {} } } });
  client.setRequestHandler("elicitation/create", agree);
  const close = () => transport.close();
  const stop = () => void close();
  options.signal.addEventListener("abort", stop, { once: true });
  try {
    options.signal.throwIfAborted();
    await client.connect(transport);
  } catch (error) {
    await close();
    const why = error instanceof Error ? error.message : String(error);
    throw new Error(`${[command, ...args].join(" ")} did not start: ${[why, ...lines].join("\n")}`);
  }
  return {
    client,
    async close() {
      options.signal.removeEventListener("abort", stop);
      await close();
    },
  };
}

type Call = (name: string, args: Readonly<Json>) => Promise<Seen>;

/** A call as a host makes it: only what its list shows, and a protocol error is a failed call that the model reads. */
function createCall(client: Client, tools: () => readonly ListedTool[], signal: AbortSignal): Call {
  return async (name, args) => {
    if (!tools().some((tool) => tool.name === name)) return refused(`There is no tool named "${name}".`);
    try {
      return toSeen(await client.callTool({ name, arguments: { ...args } }, { signal }));
    } catch (error) {
      signal.throwIfAborted();
      return refused(error instanceof Error ? error.message : String(error));
    }
  };
}

/**
 * Starts a server and stands between it and a driver as a model's host does: it shows the list, refuses names that are not on it, and
 * counts what each turn sends.
 * @throws Error where the server does not start.
 */
export async function openHost(options: HostOptions): Promise<OpenHost> {
  const { client, close } = await connect(options);
  const turns: Turn[] = [];
  const enabled = new Set<string>();
  const instructions = client.getInstructions();
  const ledger = createLedger(options.counter, instructions, options.prompt);
  let tools: readonly ListedTool[] = [];
  let said: string | undefined;
  const list = createList(client, options.refresh, (now) => {
    tools = now;
    ledger.list(now);
  });
  await list.ask().catch(async (error: unknown) => {
    await close();
    throw error;
  });
  const send = createCall(client, () => tools, options.signal);

  return {
    get tools() {
      return tools;
    },
    ...(instructions === undefined ? {} : { instructions }),
    turns,
    firstList: ledger.listTokens(),
    enabled,
    said: () => said,
    server: client.getServerVersion(),
    async call(name, args, words, beside = {}) {
      if (turns.length >= options.maxCalls) throw new Error(`more than ${options.maxCalls} calls`);
      const sent = beside.sameReply ? { prompt: 0, cached: 0, listed: tools.length } : ledger.send();
      const completion = (words ? ledger.add(words) : 0) + ledger.add(callText(name, args));
      const start = performance.now();
      const seen = await send(name, args);
      const ms = Math.round(performance.now() - start);
      ledger.add(seen.text);
      noteEnabled(enabled, seen);
      turns.push({
        ...sent,
        completion,
        tool: name,
        args,
        ...(words ? { said: words } : {}),
        seen: seen.text.slice(0, SEEN_MOST),
        isError: seen.isError,
        ms,
        ...counted(beside),
      });
      await list.settle();
      return seen;
    },
    answer(text, beside = {}) {
      const sent = ledger.send();
      turns.push({ ...sent, completion: ledger.add(text), said: text, ...counted(beside) });
      said = text;
    },
    close,
  };
}
