import { EventEmitter } from "eventemitter3";
import { otherName } from "../catalog/load.ts";
import type { Action, Source, ToolsetRow } from "../catalog/types.ts";
import { BridgeError } from "../errors.ts";
import { nearest } from "../nearest.ts";

/** A toolset with the actions and sources behind it. */
export interface Toolset extends ToolsetRow {
  readonly sources: readonly string[];
  readonly actions: readonly Action[];
}

/** All sources' toolsets and actions under one roof. `changed` fires when a source's tools changed. */
export interface Registry {
  readonly events: EventEmitter<{ changed: [] }>;
  toolsets(): readonly Toolset[];
  actions(): readonly Action[];
  source(name: string): Source;
  /** By name or alias, in any case. */
  toolset(name: string): Toolset | undefined;
  /** By tool name. */
  tool(name: string): Action | undefined;
  /** By id, tool name, alias or another server's name; a canonical id wins. @throws BridgeError unknown_action | ambiguous_alias | upstream_unavailable */
  resolve(name: string): Action;
  /** Whether a source that was not read yet may bring the name. */
  mayHold(name: string): boolean;
  /** @throws BridgeError unknown_toolset naming the nearest. */
  requireToolset(name: string): Toolset;
}

interface View {
  readonly toolsets: readonly Toolset[];
  readonly actions: readonly Action[];
  readonly byId: ReadonlyMap<string, Action>;
  readonly byTool: ReadonlyMap<string, Action>;
  readonly byAlias: ReadonlyMap<string, readonly Action[]>;
}

function joinToolsets(sources: readonly Source[], actions: readonly Action[]): readonly Toolset[] {
  const joined = new Map<string, Toolset>();
  for (const source of sources) {
    for (const row of source.toolsets()) {
      const known = joined.get(row.name);
      const own = known ?? row;
      const sourceNames = [...(known?.sources ?? []), source.name];
      const note = row.note === undefined ? {} : { note: row.note };
      joined.set(row.name, { ...own, ...note, sources: sourceNames, actions: actions.filter((action) => action.toolset === row.name) });
    }
  }
  return [...joined.values()];
}

function index(sources: readonly Source[]): View {
  const actions = sources.flatMap((source) => source.actions());
  const byAlias = new Map<string, Action[]>();
  for (const action of actions) {
    for (const alias of action.aliases ?? []) {
      const holders = byAlias.get(alias);
      if (holders) holders.push(action);
      else byAlias.set(alias, [action]);
    }
  }
  return {
    toolsets: joinToolsets(sources, actions),
    actions,
    byId: new Map(actions.map((action) => [action.id, action])),
    byTool: new Map(actions.map((action) => [action.tool, action])),
    byAlias,
  };
}

const fold = (name: string) => name.trim().toLowerCase();

function findToolset(view: View, name: string): Toolset | undefined {
  const word = fold(name);
  return view.toolsets.find((toolset) => toolset.name === word || toolset.aliases?.includes(word));
}

function resolveIn(view: View, name: string): Action {
  const word = fold(name);
  const direct = view.byId.get(word) ?? view.byTool.get(word);
  if (direct) return direct;
  const holders = view.byAlias.get(word) ?? [];
  if (holders.length === 1 && holders[0]) return holders[0];
  const ids = holders.map((action) => action.id);
  if (ids.length > 1)
    throw new BridgeError("ambiguous_alias", `"${name}" may mean ${ids.join(" or ")}`, "Call again with one of these ids.", {
      nearest: ids,
    });
  const other = view.byId.get(otherName(word) ?? "");
  if (other) return other;
  const near = nearest(word, [...view.byId.keys(), ...view.byTool.keys()]);
  throw new BridgeError(
    "unknown_action",
    `There is no action "${name}".`,
    near.length > 0 ? `Nearest: ${near.join(", ")}. Or search with gitlab_find_action.` : "Search with gitlab_find_action.",
    { nearest: near },
  );
}

/** Where a source that would have the name is away, that is why it is not there. @throws BridgeError */
function lookUp(view: View, sources: readonly Source[], name: string): Action {
  try {
    return resolveIn(view, name);
  } catch (error) {
    const away = sources.find((source) => fold(name).startsWith(`${source.name}.`));
    const note = away?.toolsets().find((row) => row.note !== undefined)?.note;
    if (note === undefined) throw error;
    throw new BridgeError(
      "upstream_unavailable",
      `"${name}" cannot run: ${note}.`,
      "Nothing was sent. Tell the user, or go on without it.",
    );
  }
}

/** Sources are few and fixed; what they hold is read on first use and again after `changed`. */
export function createRegistry(sources: readonly Source[]): Registry {
  const events = new EventEmitter<{ changed: [] }>();
  let view: View | undefined;
  const current = (): View => {
    view ??= index(sources);
    return view;
  };
  events.on("changed", () => {
    view = undefined;
  });
  for (const source of sources) source.watch?.(() => events.emit("changed"));
  return {
    events,
    toolsets: () => current().toolsets,
    actions: () => current().actions,
    source(name) {
      const found = sources.find((source) => source.name === name);
      if (!found) throw new Error(`no source ${name}`);
      return found;
    },
    toolset: (name) => findToolset(current(), name),
    tool: (name) => current().byTool.get(name),
    resolve: (name) => lookUp(current(), sources, name),
    mayHold: (name) => sources.some((source) => source.mayHold?.(fold(name)) === true),
    requireToolset(name) {
      const found = findToolset(current(), name);
      if (found) return found;
      const all = current().toolsets.map((toolset) => toolset.name);
      const near = nearest(fold(name), all);
      const hint = near.length > 0 ? `Nearest: ${near.join(", ")}.` : `Toolsets: ${all.join(", ")}.`;
      throw new BridgeError("unknown_toolset", `There is no toolset "${name}".`, hint, { nearest: near });
    },
  };
}
