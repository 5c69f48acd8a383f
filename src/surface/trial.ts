import { createHmac, randomBytes } from "node:crypto";
import type { Share } from "../config/ab-options.ts";
import { ERROR_CODES } from "../errors.ts";
import { estimateJson, estimateTokens } from "../executor/tokens.ts";
import type { Connection, Seen, Trial } from "./connection.ts";
import { dispatcherNamed } from "./dispatcher.ts";
import { entryTool } from "./entry.ts";
import { listTools } from "./list.ts";
import type { ToolResult } from "./render.ts";
import type { Style } from "./styles.ts";
import type { TrialLine } from "./trial-line.ts";

export interface TrialOptions {
  readonly shares: readonly Share[];
  /** Keys who gets which style, and the hashes of users; without it styles still stay, and hashes change at every start. */
  readonly salt?: string;
  /** Takes the lines; without it nothing is written down. */
  readonly write?: (line: TrialLine) => void;
  readonly now?: () => number;
}

/** Who sits at the other end of a new connection. */
export interface Seat {
  readonly instance: string;
  /** GitLab id of the user, where known. */
  readonly user?: number;
  /** The style that every client without an assignment gets. */
  readonly fallback: Style;
  /** The style that the client chose for itself. */
  readonly chosen?: Style;
}

/** A live comparison of styles. */
export interface Trials {
  /** The client's style, and its part in the comparison where that is written down. */
  join(seat: Seat): { readonly style: Style; readonly trial?: Trial };
}

/** Keys the draw where the operator set no salt: who gets what then stays over restarts, and tells nothing about anybody. */
const PUBLIC_KEY = "gitlab-toolset-bridge style";
const MOST_KNOWN = 10_000;
const EXECUTES = ["gitlab_execute_action", "gitlab_read_action"];

/** The same key and user always draw the same style; a change of weights moves as few users as it can. */
export function drawStyle(shares: readonly Share[], key: string, who: string): Style {
  const drawn = createHmac("sha256", key).update(`style ${who}`).digest().readUIntBE(0, 6) / 2 ** 48;
  const total = shares.reduce((sum, { weight }) => sum + weight, 0);
  let passed = 0;
  for (const { style, weight } of shares) {
    passed += weight;
    if (drawn * total < passed) return style;
  }
  throw new Error("the weights of a comparison add up to nothing");
}

const clip = (value: string) => value.replace(/\p{Cc}/gu, " ").slice(0, 60);

/** A name that means something here; another one may be anything that a model wrote. */
function toolNamed(connection: Connection, name: string): string {
  const { prefix } = connection.settings;
  const bare = name.startsWith(prefix) ? name.slice(prefix.length) : name;
  const isKnown = entryTool(bare) ?? connection.registry.tool(bare) ?? dispatcherNamed(connection, bare);
  return isKnown ? bare : "other";
}

const isDiscovery = (tool: string) => entryTool(tool) !== undefined && !EXECUTES.includes(tool);

/** What a host puts into the history: the text, or the JSON where there is none. */
function resultTokens({ content = [], structuredContent }: Partial<ToolResult>): number {
  const texts = content.flatMap(({ text }) => (typeof text === "string" ? [text] : []));
  return texts.length > 0 ? estimateTokens(texts.join("\n")) : estimateJson(structuredContent ?? {});
}

type Ending = Pick<TrialLine, "end" | "code" | "tokens">;

function endingOf(result: object): Ending {
  const { isError, structuredContent, content, ...rest } = result as Partial<ToolResult>;
  if (content === undefined && Object.keys(rest).length > 0) return { end: "asked", tokens: estimateJson(rest) };
  const tokens = resultTokens(result);
  if (!isError) return { end: "ok", tokens };
  const code = structuredContent?.code;
  return { end: "error", code: (ERROR_CODES as readonly unknown[]).includes(code) ? String(code) : "other", tokens };
}

/** Every request on its own: nothing ties one to the next but the user. */
const isAlone = ({ link }: Seen) => link.transport === "http" && link.era === "modern";

type Body = Omit<TrialLine, "time" | "transport" | "era" | "client">;

/** Where lines go, and what was written already. */
interface Ledger {
  tell(seen: Seen, body: Body): void;
  /** Whether this is new; of lone requests the user is remembered, for as long as there is room. */
  isFirst(name: string): boolean;
  isKnown(name: string): boolean;
}

function createLedger({ now = Date.now }: TrialOptions, write: NonNullable<TrialOptions["write"]>): Ledger {
  const known = new Set<string>();
  return {
    tell({ link, client }, body) {
      const at = { time: new Date(now()).toISOString(), transport: link.transport, era: link.era };
      write({ ...at, ...body, ...(client === undefined ? {} : { client: clip(client) }) });
    },
    isFirst(name) {
      if (known.has(name)) return false;
      if (known.size >= MOST_KNOWN) known.clear();
      known.add(name);
      return true;
    },
    isKnown: (name) => known.has(name),
  };
}

const sessionId = () => randomBytes(8).toString("hex");

/** A client without an assignment is noted once; what it does is not followed. */
function leftOut(ledger: Ledger, style: Style, reason: NonNullable<TrialLine["reason"]>, user: string | undefined): Trial {
  const session = sessionId();
  let noted = false;
  const note = (seen: Seen) => {
    const alone = isAlone(seen);
    if (noted || !seen.greeted || (alone && user === undefined)) return;
    noted = true;
    if (alone && !ledger.isFirst(`${user} ${reason}`)) return;
    ledger.tell(seen, { kind: "excluded", style, reason, ...(user ? { user } : {}), ...(alone ? {} : { session }) });
  };
  return {
    listed(_connection, seen) {
      if (!isAlone(seen)) note(seen);
    },
    call(_connection, seen, _name, run) {
      note(seen);
      return run();
    },
  };
}

const sizeOf = (tools: readonly unknown[]) => ({ tools: tools.length, tokens: estimateJson(tools) });

/** The assignment is made by the first list or call of a session, or by the first call where requests stand alone: never by a probe. */
function takingPart(ledger: Ledger, shares: string, style: Style, user: string): Trial {
  const session = sessionId();
  let made = false;
  const base = (seen: Seen) => ({ style, user, ...(isAlone(seen) ? {} : { session }) });
  const make = (connection: Connection, seen: Seen, tools: readonly unknown[] = listTools(connection)) => {
    if (made || (isAlone(seen) && !ledger.isFirst(user))) return;
    made = true;
    ledger.tell(seen, { kind: "assignment", ...base(seen), shares, ...sizeOf(tools) });
  };
  return {
    listed(connection, seen, tools) {
      if (!seen.greeted || (isAlone(seen) && !ledger.isKnown(user))) return;
      make(connection, seen, tools);
      ledger.tell(seen, { kind: "list", ...base(seen), ...sizeOf(tools) });
    },
    async call(connection, seen, name, run) {
      if (!seen.greeted) return await run();
      make(connection, seen);
      const started = performance.now();
      const tool = toolNamed(connection, name);
      const note = (ending: Ending) => {
        const ms = Math.round(performance.now() - started);
        ledger.tell(seen, { kind: "call", ...base(seen), tool, discovery: isDiscovery(tool), ...ending, ms });
      };
      try {
        const result = await run();
        note(endingOf(result));
        return result;
      } catch (error) {
        note({ end: "error", code: "other", tokens: error instanceof Error ? estimateTokens(error.message) : 0 });
        throw error;
      }
    },
  };
}

export function createTrials(options: TrialOptions): Trials {
  const { shares, salt } = options;
  const hashKey = salt ?? randomBytes(32).toString("hex");
  const comparison = `style:${shares.map(({ style, weight }) => `${style}=${weight}`).join(",")}`;
  const ledger = options.write ? createLedger(options, options.write) : undefined;
  const hashOf = (who: string) => createHmac("sha256", hashKey).update(`user ${who}`).digest("hex").slice(0, 24);
  return {
    join({ instance, user, fallback, chosen }) {
      const who = user === undefined ? undefined : `${instance}\n${user}`;
      const draws = chosen === undefined && who !== undefined;
      const style = chosen ?? (draws ? drawStyle(shares, salt ?? PUBLIC_KEY, who) : fallback);
      if (!ledger) return { style };
      const hash = who === undefined ? undefined : hashOf(who);
      if (draws && hash !== undefined) return { style, trial: takingPart(ledger, comparison, style, hash) };
      return { style, trial: leftOut(ledger, style, chosen === undefined ? "no_user" : "own_style", hash) };
    },
  };
}
