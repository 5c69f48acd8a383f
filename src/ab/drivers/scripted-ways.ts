import type { Action } from "../../catalog/types.ts";
import type { Arm, Host, Json, Seen, Step } from "../types.ts";

/** What a step gave: its structured result, or why it was not done. */
export type Result = { readonly json: unknown } | { readonly refused: string };

/** How one style gets from an action to a call. It remembers what it has learned. */
export interface Way {
  /** `ahead`: this action and the ones after it, for a discovery that serves several. */
  run(action: Action, params: Readonly<Json>, ahead: readonly Action[]): Promise<Result>;
  /** Reads what a step keeps where results have another shape than ours. */
  keep?(step: Step, json: unknown): Json;
}

export const toResult = ({ isError, text, json }: Seen): Result => (isError ? { refused: text } : { json: json ?? {} });

const rows = (value: unknown): readonly Json[] => (Array.isArray(value) ? (value as readonly Json[]) : []);

const isListed = (host: Host, name: string) => host.tools.some((tool) => tool.name === name);

const named =
  ({ prefix = "" }: Arm) =>
  (name: string) =>
    `${prefix}${name}`;

/** Runs an action by its id, a read by the tool for reads where there is one. */
function execute(host: Host, arm: Arm, action: Action, params: Readonly<Json>): Promise<Seen> {
  const reader = named(arm)("gitlab_read_action");
  const tool = action.effect === "read" && isListed(host, reader) ? reader : named(arm)("gitlab_execute_action");
  return host.call(tool, { action: action.id, params });
}

/** Says why the answer of a search holds an action back, where it does. */
function withheldReason({ json }: Seen, { id }: Action): string | undefined {
  const group = rows(json?.withheld).find(({ actions }) => Array.isArray(actions) && actions.includes(id));
  return group && String(group.reason);
}

/**
 * Find, then execute. It asks in the words of the action's title, as whoever knows what is to be done would; if the id is not among the
 * results, in the words of the id; then by the id itself. Every action that an answer has shown needs no second search.
 */
export function findWay(host: Host, arm: Arm): Way {
  const seen = new Set<unknown>();
  async function find(action: Action): Promise<string | undefined> {
    for (const query of [action.title, action.id.replace(/[._]/g, " "), action.id]) {
      const answer = await host.call(named(arm)("gitlab_find_action"), { query });
      for (const row of rows(answer.json?.results)) seen.add(row.id);
      if (seen.has(action.id)) return undefined;
      const reason = withheldReason(answer, action);
      if (reason !== undefined) return reason;
    }
    return "no search finds it";
  }
  return {
    async run(action, params) {
      const refused = seen.has(action.id) ? undefined : await find(action);
      return refused === undefined ? toResult(await execute(host, arm, action, params)) : { refused };
    },
  };
}

const unique = (names: readonly string[]): readonly string[] => [...new Set(names)];

/** Ids of the actions that an answer of `enable_toolset` has made callable. */
const enabledIds = ({ json }: Seen): readonly string[] =>
  rows(json?.toolsets).flatMap(({ tools }) => rows(tools).map(({ action }) => String(action)));

/**
 * What is listed is called by name. Else it looks once at the toolsets, enables those that the steps ahead need in one call, and where
 * an action is not among the essential ones, looks into its toolset and enables it by name. Then it calls by name if this host's list
 * shows it, else by the path that the answer named, if the list has that; else by name all the same, once more when the list has grown.
 */
export function enableWay(host: Host, arm: Arm): Way {
  const name = named(arm);
  const callable = new Set<string>();
  const enabled = new Set<string>();
  const isReached = (action: Action) => callable.has(action.id) || isListed(host, name(action.tool));
  let looked = false;

  async function enable(args: Json): Promise<void> {
    for (const id of enabledIds(await host.call(name("enable_toolset"), args))) callable.add(id);
  }

  async function reach(action: Action, ahead: readonly Action[]): Promise<void> {
    if (!looked) await host.call(name("list_available_toolsets"), {});
    looked = true;
    const wanted = unique(ahead.filter((one) => !isReached(one)).map(({ toolset }) => toolset)).filter((one) => !enabled.has(one));
    if (wanted.length > 0) await enable({ toolset: wanted.join(",") });
    for (const toolset of wanted) enabled.add(toolset);
    if (isReached(action)) return;
    const shown = await host.call(name("get_toolset_tools"), { toolset: action.toolset });
    const ids = new Set(rows(shown.json?.tools).map((row) => row.action));
    const missing = ahead.filter((one) => one.toolset === action.toolset && ids.has(one.id) && !isReached(one));
    if (missing.length > 0) await enable({ toolset: action.toolset, tools: unique(missing.map(({ tool }) => name(tool))) });
  }

  return {
    async run(action, params, ahead) {
      if (!isReached(action)) await reach(action, ahead);
      if (!isReached(action)) return { refused: "no toolset has it for this caller" };
      const tool = name(action.tool);
      if (!isListed(host, tool) && isListed(host, name("gitlab_execute_action"))) return toResult(await execute(host, arm, action, params));
      const wasListed = isListed(host, tool);
      const first = await host.call(tool, params);
      return toResult(!wasListed && isListed(host, tool) ? await host.call(tool, params) : first);
    },
  };
}

/** The dispatcher that offers an action. */
const dispatcherOf = (host: Host, { id }: Action): string | undefined =>
  host.tools.find(({ inputSchema }) => {
    const { action } = (inputSchema.properties ?? {}) as { action?: { enum?: readonly unknown[] } };
    return action?.enum?.includes(id) === true;
  })?.name;

/** A dispatcher shows ids and no parameters: it looks at those of all steps ahead in the toolset, then calls. */
export function dispatchWay(host: Host, arm: Arm): Way {
  const looked = new Set<string>();
  return {
    async run(action, params, ahead) {
      const tool = dispatcherOf(host, action);
      if (tool === undefined) return { refused: "no dispatcher offers it" };
      if (!looked.has(action.id)) {
        const ids = unique(ahead.filter((one) => one.toolset === action.toolset && dispatcherOf(host, one)).map(({ id }) => id));
        await host.call(named(arm)("get_toolset_tools"), { toolset: action.toolset, tools: ids });
        for (const id of ids) looked.add(id);
      }
      return toResult(await host.call(tool, { action: action.id, params }));
    },
  };
}

/** Every permitted action is on the list. */
export function directWay(host: Host, arm: Arm): Way {
  return {
    async run(action, params) {
      const tool = named(arm)(action.tool);
      return isListed(host, tool) ? toResult(await host.call(tool, params)) : { refused: "it is not on the list" };
    },
  };
}
