import { createHash } from "node:crypto";
import { SdkError, SdkErrorCode } from "@modelcontextprotocol/client";
import type { Action, Call, CallContext, Outcome, ToolsetRow } from "../catalog/types.ts";
import { BridgeError } from "../errors.ts";
import type { UpstreamTool } from "./clean.ts";
import { type DialOptions, dial, type Elicit, type Live } from "./client.ts";
import { failureOf, sayFailure, toBridgeError } from "./errors.ts";
import { type Linked, Links } from "./links.ts";
import { readTools } from "./list.ts";
import { OwnLists } from "./own-lists.ts";
import { createPatience } from "./patience.ts";
import { Slot } from "./slot.ts";
import { toActions, toToolsets } from "./tools.ts";
import type { UpstreamOptions, UpstreamSource, UpstreamView } from "./types.ts";
import { feelPulse, listen } from "./watching.ts";

const IDLE = 10 * 60_000;
/** Changes that come together are read once. */
const SETTLE = 100;
const PULSE = 30_000;
const TOTAL = 30 * 60_000;
const LONGEST_REDIAL = 60_000;

/** `_meta` of a request that is the caller's own, without what belongs to its connection to us. */
function metaOf({ meta }: CallContext): Record<string, unknown> {
  return Object.fromEntries(Object.entries(meta).filter(([key]) => key !== "progressToken" && !key.startsWith("io.modelcontextprotocol/")));
}

class Upstream implements UpstreamSource {
  readonly name: string;
  readonly #options: UpstreamOptions;
  readonly #slots = new Map<string, { readonly slot: Slot; readonly session: string }>();
  readonly #catalog: Slot;
  readonly #links = new Links();
  /** The client that the catalog's connection belongs to. */
  #owner: string | undefined;
  /** What the catalog's connection took from the client that came first; nothing else of a client is kept. */
  #first: { readonly headers: Readonly<Record<string, string>>; readonly elicits: boolean } | undefined;
  #actions: readonly Action[] = [];
  #tools: ReadonlyMap<string, UpstreamTool> = new Map();
  #note: string | undefined;
  /** The failure that was logged last: what is tried again and again is told once. */
  #warned = "";
  #tell: () => void = () => {};
  #tellOwn: (session: string) => void = () => {};
  readonly #own: OwnLists;
  #loading: Promise<void> | undefined;
  #again = false;
  #redial: NodeJS.Timeout | undefined;
  #grace: NodeJS.Timeout | undefined;
  #watched: Live | undefined;
  #ended = false;

  constructor(options: UpstreamOptions) {
    this.name = options.config.name;
    this.#options = options;
    this.#catalog = this.#createSlot(0, () => this.#dialOptions(this.#first?.headers ?? {}, this.#first?.elicits === true));
    this.#note = "its tools were not read yet";
    this.#own = new OwnLists({
      read: async (live) => (await this.#readTools(live)).tools,
      toActions: (tools, before) => toActions(tools, options, before),
      common: () => this.#actions,
      told: (session) => this.#tellOwn(session),
      settle: SETTLE,
    });
  }

  watchOwn(changed: (session: string) => void): void {
    this.#tellOwn = changed;
  }

  own(session: string): UpstreamView | undefined {
    const own = this.#own.get(session, this.#asksEach());
    return own && { actions: () => own.actions, toolsets: () => toToolsets(this.#options.config, own.actions, this.#note) };
  }

  watch(changed: () => void): void {
    this.#tell = changed;
  }

  toolsets(): readonly ToolsetRow[] {
    return toToolsets(this.#options.config, this.#actions, this.#note);
  }

  actions(): readonly Action[] {
    return this.#actions;
  }

  /** Its own name, what its settings name, and anything that begins with its name. */
  mayHold(name: string): boolean {
    const { config } = this.#options;
    return (
      name === this.name || name.startsWith(`${this.name}.`) || name === `toolset:${this.name}` || Object.hasOwn(config.toolsets, name)
    );
  }

  #createSlot(idle: number, options: () => DialOptions, opened: (live: Live) => void = () => {}): Slot {
    const { verdicts, log } = this.#options;
    const open = async () => {
      const live = await dial(options(), verdicts);
      opened(live);
      return live;
    };
    const say = (error: unknown) => log.mask(sayFailure(error, this.#options.config.wants));
    return new Slot({ name: this.name, idle, say, dial: open });
  }

  #dialOptions(headers: Readonly<Record<string, string>>, elicits: boolean): DialOptions {
    const { config, version, log, fingerprint, reach } = this.#options;
    const own = { config, version, log, fingerprint, ...(reach ? { reach } : {}) };
    return { ...own, elicits, headers, onListChanged: () => this.#changed() };
  }

  #forwarded(context: CallContext | undefined): Readonly<Record<string, string>> {
    const pairs = this.#options.config.forwardHeaders.flatMap((name): [string, string][] => {
      const { credential } = context ?? {};
      const own = credential?.header.toLowerCase() === name ? credential.value : undefined;
      const value = context?.header?.(name) ?? own;
      return value === undefined ? [] : [[name, value]];
    });
    return Object.fromEntries(pairs);
  }

  async load(context: CallContext | undefined): Promise<void> {
    await this.#loadCommon(context);
    // What depends on who asks is asked by each; nobody sees what another may see.
    if (context?.session === undefined || !this.#asksEach()) return;
    const { session } = context;
    await this.#slotFor(context)
      .use((live) => this.#own.follow(session, live))
      .catch(() => this.#own.close(session));
  }

  #loadCommon(context: CallContext | undefined): Promise<void> {
    if (this.#loading) return this.#loading;
    if (this.#watched) return Promise.resolve();
    if (context) this.#first ??= { headers: this.#forwarded(context), elicits: this.#options.single && context.elicit !== undefined };
    return this.#begin(0);
  }

  /** Reads, and reads once more where a change was told meanwhile; those who wait meet the newest list. */
  #begin(after: number): Promise<void> {
    this.#loading ??= (async () => {
      if (after > 0) await new Promise((resolve) => setTimeout(resolve, after));
      do {
        this.#again = false;
        if (!this.#ended) await this.#read();
      } while (this.#again && !this.#ended);
    })().finally(() => {
      this.#loading = undefined;
    });
    return this.#loading;
  }

  #readTools(live: Live): ReturnType<typeof readTools> {
    const { link, timeout } = this.#options.config;
    return readTools(live, timeout, link.kind !== "stdio");
  }

  async #read(): Promise<void> {
    const { log } = this.#options;
    try {
      await this.#catalog.use(async (live) => {
        const { tools, left } = await this.#readTools(live);
        for (const one of left.slice(0, 20)) log.warn(`upstream ${this.name}: left out: ${one}`);
        if (this.#actions.length === 0) await this.#options.turn();
        this.#warned = "";
        this.#publish(tools, undefined);
        this.#watchOver(live);
      });
    } catch (error) {
      if (this.#ended) return;
      const text = error instanceof BridgeError ? error.message : log.mask(sayFailure(error));
      if (text !== this.#warned) log.warn(`upstream ${this.name}: ${text}`);
      this.#warned = text;
      // Where callers bring the credential, the next one's may be better.
      if (this.#needsCaller()) this.#first = undefined;
      this.#down(this.#catalog.lastFailure || text);
    }
  }

  #publish(tools: readonly UpstreamTool[], note: string | undefined): void {
    const mapped = toActions(tools, this.#options, this.#actions);
    const same = mapped.actions.length === this.#actions.length && mapped.actions.every((action, index) => action === this.#actions[index]);
    const silent = same && note === this.#note;
    this.#tools = mapped.tools;
    this.#note = note;
    if (silent) return;
    if (!same) this.#actions = mapped.actions;
    this.#tell();
  }

  /** Stays with the connection that read the tools: its changes are told here, and its end starts the next try. */
  #watchOver(live: Live): void {
    clearTimeout(this.#grace);
    this.#grace = undefined;
    if (this.#watched === live) return;
    this.#watched = live;
    void listen(live, () => this.#changed());
    const { config, pulse: every = PULSE } = this.#options;
    const timeout = Math.min(config.timeout, PULSE);
    const pulse = config.link.kind === "stdio" ? undefined : feelPulse(live, every, timeout, () => this.#catalog.drop(live));
    void live.closed.then(() => {
      clearInterval(pulse);
      if (this.#watched !== live) return;
      this.#watched = undefined;
      if (!this.#ended) this.#down("the connection ended");
    });
  }

  /** The upstream said that its list changed: read once for however many times it says so. */
  #changed(): void {
    this.#again = true;
    if (!this.#ended) void this.#begin(SETTLE);
  }

  /** Without a caller's headers there is nothing to be tried. */
  #needsCaller(): boolean {
    return this.#options.config.forwardHeaders.length > 0 && !this.#options.single;
  }

  /** What it shows depends on the headers of who asks: each client is asked for by itself. */
  #asksEach(): boolean {
    return this.#needsCaller() && this.#options.config.sessionMode !== "shared";
  }

  /** Its tools stay for a while, its toolset says why they do not answer, and it is tried again and again. */
  #down(why: string): void {
    const { config } = this.#options;
    const note = `${this.name} cannot be reached now: ${why}`;
    if (this.#note !== note) {
      this.#note = note;
      this.#tell();
    }
    if (this.#actions.length > 0 && this.#grace === undefined) {
      this.#grace = setTimeout(() => this.#publish([], this.#note), config.grace);
      this.#grace.unref();
    }
    clearTimeout(this.#redial);
    if (this.#needsCaller()) return;
    this.#redial = setTimeout(() => void this.load(undefined), Math.min(LONGEST_REDIAL, Math.max(100, this.#catalog.due)));
    this.#redial.unref();
  }

  #slotFor(context: CallContext): Slot {
    const { config, single } = this.#options;
    if (config.sessionMode === "shared" || context.session === undefined) return this.#catalog;
    if (single) this.#owner ??= context.session;
    if (this.#owner === context.session) return this.#catalog;
    const digest = createHash("sha256")
      .update(JSON.stringify(this.#forwarded(context)))
      .digest("base64url");
    const key = `${context.session} ${digest}`;
    const known = this.#slots.get(key);
    if (known) return known.slot;
    const { session } = context;
    const options = () => ({
      ...this.#dialOptions(this.#forwarded(context), context.elicit !== undefined),
      onListChanged: () => this.#own.changed(session),
    });
    // A call that needs the connection now does not wait for its list.
    const slot = this.#createSlot(IDLE, options, (live) => void this.#own.follow(session, live).catch(() => {}));
    this.#slots.set(key, { slot, session });
    return slot;
  }

  async #send(live: Live, tool: UpstreamTool, call: Call, context: CallContext): Promise<Outcome> {
    const meta = metaOf(context);
    const patience = createPatience(this.#options.config.timeout, context.signal);
    const { elicit } = context;
    const ask: Elicit | undefined = elicit && ((params) => patience.pause(() => elicit(params) as ReturnType<Elicit>));
    if (ask) live.asking.add(ask);
    try {
      const result = await live.client.callTool(
        { name: tool.name, arguments: { ...call.params }, ...(Object.keys(meta).length > 0 ? { _meta: meta } : {}) },
        {
          signal: patience.signal,
          timeout: TOTAL,
          maxTotalTimeout: TOTAL,
          onprogress: ({ progress, total, message }) => {
            patience.begin();
            context.progress?.({ progress, ...(total === undefined ? {} : { total }), ...(message === undefined ? {} : { message }) });
          },
          toolDefinition: { name: tool.name, inputSchema: tool.inputSchema as { type: "object" } },
        },
      );
      this.#links.remember(context.session ?? "", call.action.id, result.content);
      return { kind: "relayed", result };
    } catch (error) {
      throw patience.isOver() ? new SdkError(SdkErrorCode.RequestTimeout, "no answer in time") : error;
    } finally {
      patience.end();
      if (ask) live.asking.delete(ask);
    }
  }

  linked(uri: string, context: CallContext): Linked | undefined {
    const action = this.#links.from(context.session ?? "", uri);
    if (action === undefined) return undefined;
    const failed = { id: uri, upstream: this.name, reads: true, cancelled: false };
    const options = { signal: context.signal, timeout: this.#options.config.timeout, cacheMode: "bypass" } as const;
    const read = () =>
      this.#slotFor(context)
        .use((live) => live.client.readResource({ uri }, options))
        .catch((error: unknown) => {
          throw toBridgeError(error, failed, this.#options.log.mask);
        });
    return { action, read };
  }

  /** A read whose connection turns out to be gone is sent once more over a new one; nothing else is ever sent twice. */
  async run(call: Call, context: CallContext): Promise<Outcome> {
    const tool = this.#toolOf(call, context);
    if (!tool)
      throw new BridgeError(
        "upstream_unavailable",
        `${call.action.id} is not there any more.`,
        `Nothing was sent: ${this.name} took it off its list.`,
      );
    const slot = this.#slotFor(context);
    const reads = call.action.effect === "read";
    for (let tries = 1; ; tries++) {
      let used: Live | undefined;
      try {
        return await slot.use((live) => {
          used = live;
          return this.#send(live, tool, call, context);
        });
      } catch (error) {
        const gone = used !== undefined && failureOf(error) !== "other" && !context.signal.aborted;
        if (used && gone) slot.drop(used);
        if (gone && reads && tries === 1) continue;
        const failed = { id: call.action.id, upstream: this.name, reads, cancelled: context.signal.aborted };
        throw toBridgeError(error, failed, this.#options.log.mask);
      }
    }
  }

  #toolOf({ action }: Call, { session = "" }: CallContext): UpstreamTool | undefined {
    return (this.#own.get(session, this.#asksEach())?.tools ?? this.#tools).get(action.id);
  }

  async preview(call: Call, context: CallContext): Promise<Readonly<Record<string, unknown>>> {
    const text = this.#options.log.mask(JSON.stringify(call.params));
    return { server: this.name, tool: this.#toolOf(call, context)?.name ?? call.action.tool, arguments: JSON.parse(text) };
  }

  async forget(session: string): Promise<void> {
    this.#links.forget(session);
    this.#own.forget(session);
    const own = [...this.#slots].filter(([, entry]) => entry.session === session);
    for (const [key] of own) this.#slots.delete(key);
    await Promise.all(own.map(([, { slot }]) => slot.close()));
  }

  async close(): Promise<void> {
    this.#ended = true;
    for (const timer of [this.#redial, this.#grace]) clearTimeout(timer);
    const slots = [...this.#slots.values()].map(({ slot }) => slot);
    this.#slots.clear();
    await Promise.all([this.#catalog, ...slots].map((slot) => slot.close()));
  }
}

export const createUpstream = (options: UpstreamOptions): UpstreamSource => new Upstream(options);
