import { EventEmitter } from "eventemitter3";
import type { Action } from "../catalog/types.ts";

/**
 * One client's switches. `changed`: the client's own list became another one; `refreshed`: the same, and no call of the client did it.
 * `listed`: the client asked for its list.
 * Nothing here is shared between clients.
 */
export interface Session {
  readonly events: EventEmitter<{ changed: []; listed: []; refreshed: [] }>;
  /** On at connect, then switched on at run time, in order: a client's prompt cache survives everything but the tail. */
  on(): readonly Action[];
  isOn(action: Action): boolean;
  /** Anything was ever switched on at run time. */
  switched(): boolean;
  /** Switches on what is off, in the order given. Returns what really changed; fires `changed` at most once. */
  enable(actions: readonly Action[]): readonly Action[];
  /** Switches off what is on. Returns what really changed; fires `changed` at most once. */
  disable(actions: readonly Action[]): readonly Action[];
  /**
   * Sources changed: what is on is looked up anew, and what a source brings later takes its place at the end. Fires `changed` and
   * `refreshed` where the client's own list is another one now.
   */
  refresh(lookUp: (id: string) => Action | undefined): void;
  /** The client asked for its list. */
  listed(): void;
  /**
   * Runs `tell` (which notifies the client) and waits a while (`settleMs`) for the client's `tools/list`.
   * A client that once did not come is not waited for again. Resolves true if it came.
   */
  settle(tell: () => Promise<void>): Promise<boolean>;
}

/**
 * @param atConnect what is on when the client connects; asked once, on first use.
 * @param settleMs how long a client gets to ask for its list again after it was told; handlers of the SDKs debounce by 300.
 */
export function createSession(atConnect: () => readonly Action[], settleMs: number): Session {
  const events = new EventEmitter<{ changed: []; listed: []; refreshed: [] }>();
  let active: Map<string, Action> | undefined;
  /** Ids that were ever on and were not switched off since, in order: what went with its source comes back with it. */
  const wanted = new Set<string>();
  const off = new Set<string>();
  let everSwitched = false;
  let refreshes = true;
  const current = (): Map<string, Action> => {
    if (!active) {
      active = new Map(atConnect().map((action) => [action.id, action]));
      for (const id of active.keys()) wanted.add(id);
    }
    return active;
  };
  const apply = (actions: readonly Action[], change: (map: Map<string, Action>, action: Action) => boolean): readonly Action[] => {
    const changed = actions.filter((action) => change(current(), action));
    if (changed.length > 0) events.emit("changed");
    return changed;
  };
  return {
    events,
    on: () => [...current().values()],
    isOn: (action) => current().has(action.id),
    switched: () => everSwitched,
    enable: (actions) =>
      apply(actions, (map, action) => {
        if (map.has(action.id)) return false;
        map.set(action.id, action);
        wanted.add(action.id);
        off.delete(action.id);
        everSwitched = true;
        return true;
      }),
    disable: (actions) =>
      apply(actions, (map, action) => {
        wanted.delete(action.id);
        off.add(action.id);
        return map.delete(action.id);
      }),
    refresh(lookUp) {
      if (!active) return;
      const before = [...active.values()];
      for (const { id } of atConnect()) if (!off.has(id)) wanted.add(id);
      const now = [...wanted].flatMap((id) => lookUp(id) ?? []);
      active = new Map(now.map((action) => [action.id, action]));
      if (now.length === before.length && now.every((action, index) => action === before[index])) return;
      events.emit("changed");
      events.emit("refreshed");
    },
    listed: () => {
      events.emit("listed");
    },
    async settle(tell) {
      if (!refreshes) {
        await tell();
        return false;
      }
      let done: (came: boolean) => void = () => {};
      const came = new Promise<boolean>((resolve) => {
        done = resolve;
      });
      const onListed = () => done(true);
      events.once("listed", onListed);
      await tell();
      const timer = setTimeout(() => done(false), settleMs);
      refreshes = await came;
      clearTimeout(timer);
      events.off("listed", onListed);
      return refreshes;
    },
  };
}
