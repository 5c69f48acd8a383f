import type { Connection } from "./connection.ts";
import { listTools } from "./list.ts";

/** Calls back whenever the client alone sees other tools, until the returned function is called. */
export type OwnChanges = (changed: () => void) => () => void;

/** What every served client's list stands on beside the sources: called before the limits change, and what it gives back after. */
export type BeforeLimits = () => () => void;

export interface FollowerParts {
  readonly connection: () => Connection;
  readonly own: OwnChanges;
  readonly served: Set<BeforeLimits>;
}

/** Keeps a client's list in step with sources and limits, from when the client is served to when it goes. */
export function createFollower({ connection, own, served }: FollowerParts) {
  const refresh = () => {
    const { registry, policy, session } = connection();
    const byId = new Map(registry.actions().map((action) => [action.id, action]));
    session.refresh((id) => {
      const action = byId.get(id);
      return action && policy.permits(action, {}) ? action : undefined;
    });
  };
  const listed = () => JSON.stringify(listTools(connection()));
  const limited: BeforeLimits = () => {
    const before = listed();
    return () => {
      const { events } = connection().session;
      let told = false;
      const note = () => {
        told = true;
      };
      events.on("refreshed", note);
      refresh();
      events.off("refreshed", note);
      // The same tools may look another way: what only reads now says so.
      if (told || listed() === before) return;
      events.emit("changed");
      events.emit("refreshed");
    };
  };
  let unfollow = () => {};
  const stop = () => {
    connection().registry.events.off("changed", refresh);
    served.delete(limited);
    unfollow();
  };
  return {
    start: () => {
      stop();
      connection().registry.events.on("changed", refresh);
      served.add(limited);
      unfollow = own(refresh);
    },
    stop,
  };
}

export type Follower = ReturnType<typeof createFollower>;
