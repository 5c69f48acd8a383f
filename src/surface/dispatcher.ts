import { toInputSchema, toSignature } from "../catalog/schema.ts";
import type { Action, Effect, JsonSchema, Outcome } from "../catalog/types.ts";
import { BridgeError } from "../errors.ts";
import { estimateTokens } from "../executor/tokens.ts";
import { nearest } from "../nearest.ts";
import type { Toolset } from "../registry/registry.ts";
import type { Connection } from "./connection.ts";
import { fitBudget } from "./fit.ts";
import type { ListedTool } from "./signature.ts";
import { STYLE_ROWS } from "./styles.ts";
import type { Annotations, EntryTool, ToolCall } from "./tool.ts";

/** Tokens that one dispatcher may spend on its actions' parameters. They stand at `params`: some hosts cut a tool's own description. */
const BUDGET = { opaque: 0, compact: 4_000, full: 4_000 } as const;

/** A toolset as one tool: `{ action, params }`. */
export interface Dispatcher {
  readonly toolset: Toolset;
  /** Without the connection's prefix. */
  readonly name: string;
  /** What is on of the toolset, in order. */
  readonly actions: readonly Action[];
}

export const hasDispatchers = (connection: Connection): boolean => STYLE_ROWS[connection.settings.style].dispatchers === true;

/** The toolset's own name in the form that every vendor takes; a name that a tool has already gets a tail. */
export function dispatcherName(toolset: string, isTaken: (name: string) => boolean): string {
  const plain = toolset
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, "_")
    .replace(/^_+|_+$/g, "");
  const whole = /^[a-z]/.test(plain) ? plain : `toolset_${plain}`;
  const name = whole.slice(0, 32).replace(/_+$/, "");
  return isTaken(name) ? `${whole.slice(0, 24).replace(/_+$/, "")}_actions` : name;
}

const nameOf = ({ registry }: Connection, toolset: string) => dispatcherName(toolset, (name) => registry.tool(name) !== undefined);

/** The dispatchers of what is on, in the order in which their toolsets came on. */
export function dispatchersOn(connection: Connection): readonly Dispatcher[] {
  const byToolset = new Map<string, Action[]>();
  for (const action of connection.session.on()) byToolset.set(action.toolset, [...(byToolset.get(action.toolset) ?? []), action]);
  return [...byToolset].map(([name, actions]) => ({
    toolset: connection.registry.requireToolset(name),
    name: nameOf(connection, name),
    actions,
  }));
}

/** By its name, listed or not: a host that keeps an older list, or shares one, still gets an answer. */
export function dispatcherNamed(connection: Connection, name: string): Dispatcher | undefined {
  if (!hasDispatchers(connection)) return undefined;
  const listed = dispatchersOn(connection).find((dispatcher) => dispatcher.name === name);
  if (listed) return listed;
  const toolset = connection.registry.toolsets().find((one) => nameOf(connection, one.name) === name);
  return toolset && { toolset, name, actions: [] };
}

/** The tool through which an action is called once it is on. */
export const toolOf = (connection: Connection, action: Action): string =>
  `${connection.settings.prefix}${hasDispatchers(connection) ? nameOf(connection, action.toolset) : action.tool}`;

const WORST: readonly Effect[] = ["read", "write", "destructive"];
const worst = (actions: readonly Action[]): Effect =>
  WORST.findLast((effect) => actions.some((action) => action.effect === effect)) ?? "read";

/** As strict as the worst of its actions. */
function annotationsOf({ actions }: Dispatcher): Annotations {
  const effect = worst(actions);
  return effect === "read" ? { readOnlyHint: true } : { destructiveHint: effect === "destructive" };
}

const essentialFirst = (actions: readonly Action[]) => [
  ...actions.filter((action) => action.essential),
  ...actions.filter((action) => !action.essential),
];

/** Signatures, and in `full` the input schemas, of as many actions as fit; the essential ones first. */
function paramsText(connection: Connection, { actions }: Dispatcher): string {
  const detail = connection.settings.metaSchemas;
  if (detail === "opaque") return `Its parameters (${connection.settings.prefix}get_toolset_tools shows them)`;
  const project = connection.project() !== undefined;
  const rows = essentialFirst(actions).map((action) => {
    const signature = toSignature(action, project);
    const schema = () => `${signature} ${JSON.stringify(toInputSchema(action, { detail: "listed", project }))}`;
    return detail === "full" ? ["", signature, schema()] : ["", signature];
  });
  const lines = fitBudget(rows, BUDGET[detail], estimateTokens).filter((line) => line !== "");
  return ["The action's parameters:", ...lines].join("\n");
}

function schemaOf(connection: Connection, dispatcher: Dispatcher): JsonSchema {
  const { actions } = dispatcher;
  const confirm = worst(actions) === "destructive" && connection.settings.confirm !== "off";
  return {
    type: "object",
    properties: {
      action: { type: "string", enum: actions.map((action) => action.id), description: "What to do" },
      params: { type: "object", description: paramsText(connection, dispatcher) },
      ...(confirm ? { confirm: { type: "boolean", description: "User has agreed" } } : {}),
    },
    required: ["action", "params"],
  };
}

export function toListedDispatcher(connection: Connection, dispatcher: Dispatcher): ListedTool {
  const { toolset, name } = dispatcher;
  const plain = toolset.title.toLowerCase() === name.replaceAll("_", " ");
  return {
    name: `${connection.settings.prefix}${name}`,
    title: toolset.title,
    description: plain ? toolset.about : `${toolset.title}: ${toolset.about}`,
    inputSchema: schemaOf(connection, dispatcher),
    annotations: annotationsOf(dispatcher),
  };
}

/** A host that asks by annotation was told how bad this tool can be: what is worse does not run through it. */
function requireCovered(dispatcher: Dispatcher, action: Action, call: ToolCall): void {
  const covered = worst(dispatcher.actions);
  if (dispatcher.actions.length === 0 || WORST.indexOf(action.effect) <= WORST.indexOf(covered)) return;
  throw new BridgeError(
    "invalid_params",
    `${action.id} is ${action.effect}, and ${call.named(dispatcher.name)} is listed for ${covered === "read" ? "reads" : "reads and writes"} only.`,
    `Put it on the list first: ${call.named("enable_toolset")} with toolset "${dispatcher.toolset.name}" and tools ["${action.id}"].`,
  );
}

function actionIn(dispatcher: Dispatcher, name: string, call: ToolCall): Action {
  const { registry } = call.connection;
  const action = registry.resolve(name);
  if (action.toolset === dispatcher.toolset.name) return action;
  const near = nearest(
    name,
    dispatcher.actions.map((one) => one.id),
  );
  const hint = `Call ${toolOf(call.connection, action)} with action "${action.id}".`;
  throw new BridgeError("invalid_params", `${action.id} belongs to the toolset ${action.toolset}.`, hint, { nearest: near });
}

/** A dispatcher as a tool that can be called: the same road as every other way. */
export function toDispatcherTool(dispatcher: Dispatcher): EntryTool {
  return {
    name: dispatcher.name,
    title: dispatcher.toolset.title,
    description: dispatcher.toolset.about,
    inputSchema: {
      type: "object",
      properties: { action: { type: "string" }, params: { type: "object" }, confirm: { type: "boolean" } },
      required: ["action"],
    },
    annotations: () => annotationsOf(dispatcher),
    async run(args, call): Promise<Outcome> {
      const action = actionIn(dispatcher, String(args.action), call);
      requireCovered(dispatcher, action, call);
      const runner = await call.connection.runner();
      const confirm = args.confirm === true ? { confirm: true } : {};
      return await runner.run({ name: action.id, params: args.params ?? {}, ...confirm }, call.context);
    },
  };
}
