import type { Action } from "../catalog/types.ts";
import type { UpstreamTool } from "./clean.ts";
import type { Live } from "./client.ts";
import type { Mapped } from "./tools.ts";
import { listen } from "./watching.ts";

export interface OwnListsParts {
  /** All tools that a connection shows. */
  readonly read: (live: Live) => Promise<readonly UpstreamTool[]>;
  readonly toActions: (tools: readonly UpstreamTool[], before: readonly Action[]) => Mapped;
  /** What those see who have no list of their own. */
  readonly common: () => readonly Action[];
  /** This client's list became another one. */
  readonly told: (session: string) => void;
  /** Changes that come together are read once (ms). */
  readonly settle: number;
}

const NONE: Mapped = { actions: [], tools: new Map() };

/** Lists of clients whose own connection shows other tools than the one that belongs to nobody. Kept only where they differ. */
export class OwnLists {
  readonly #parts: OwnListsParts;
  readonly #lists = new Map<string, Mapped>();
  readonly #lives = new Map<string, Live>();
  /** The first look at that connection. */
  readonly #reading = new Map<string, Promise<void>>();
  /** Clients whose own list was read. */
  readonly #asked = new Set<string>();
  readonly #timers = new Map<string, NodeJS.Timeout>();

  constructor(parts: OwnListsParts) {
    this.#parts = parts;
  }

  /** @param asks each client must have been asked for: until then it sees nothing. */
  get(session: string, asks: boolean): Mapped | undefined {
    return this.#lists.get(session) ?? (asks && !this.#asked.has(session) ? NONE : undefined);
  }

  /** This connection is the client's own from now on: what it shows counts. */
  async follow(session: string, live: Live): Promise<void> {
    if (this.#lives.get(session) !== live) {
      this.#lives.set(session, live);
      this.#reading.set(session, this.#read(session, live));
      void listen(live, () => this.changed(session));
    }
    await this.#reading.get(session);
  }

  /** The client's own connection said that its list changed. */
  changed(session: string): void {
    if (this.#timers.has(session)) return;
    const timer = setTimeout(() => {
      this.#timers.delete(session);
      const live = this.#lives.get(session);
      if (live) void this.#read(session, live).catch(() => {});
    }, this.#parts.settle);
    this.#timers.set(session, timer.unref());
  }

  /** It sees nothing: it could not be asked what it may see. */
  close(session: string): void {
    this.#lives.delete(session);
    this.#set(session, NONE);
  }

  async #read(session: string, live: Live): Promise<void> {
    const tools = await this.#parts.read(live);
    if (this.#lives.get(session) !== live) return;
    this.#asked.add(session);
    this.#set(session, this.#parts.toActions(tools, this.#lists.get(session)?.actions ?? this.#parts.common()));
  }

  #set(session: string, next: Mapped): void {
    const common = this.#parts.common();
    const before = this.#lists.get(session)?.actions ?? common;
    const isLike = (other: readonly Action[]) =>
      other.length === next.actions.length && other.every((action, index) => action === next.actions[index]);
    if (isLike(common)) this.#lists.delete(session);
    else this.#lists.set(session, next);
    if (!isLike(before)) this.#parts.told(session);
  }

  forget(session: string): void {
    clearTimeout(this.#timers.get(session));
    this.#asked.delete(session);
    for (const map of [this.#lists, this.#lives, this.#reading, this.#timers]) map.delete(session);
  }
}
