import type { GetPromptResult, ReadResourceResult, Server, ServerCapabilities, ServerContext } from "@modelcontextprotocol/server";
import type { CallContext } from "../catalog/types.ts";
import type { Settings } from "../config/options.ts";
import { complete } from "./completions.ts";
import type { Connection } from "./connection.ts";
import { getPrompt, listPrompts } from "./prompts.ts";
import { toProtocolError } from "./reading.ts";
import { frame, readerOf } from "./render.ts";
import { listResources, listTemplates, readResource } from "./resources.ts";

/** What the server offers beside tools. */
export const offered = ({ capabilities }: Settings): ServerCapabilities =>
  capabilities === "full" ? { resources: {}, prompts: {}, completions: {} } : { resources: {} };

interface Parts {
  readonly connection: Connection;
  readonly toContext: (context: ServerContext) => CallContext;
}

async function answer<T>({ policy }: Connection, work: Promise<T>, uri?: string): Promise<T> {
  try {
    return await work;
  } catch (error) {
    throw toProtocolError(error, readerOf(policy), uri);
  }
}

/** One of ours, or what a link in another server's answer led to: that goes the road of its tool. */
async function readAny(connection: Connection, uri: string, context: CallContext): Promise<Readonly<Record<string, unknown>>> {
  const linked = connection.upstreams?.linked(uri, context);
  if (!linked) return await readResource(connection, uri, context);
  const road = await connection.runner();
  return framed(await road.follow(linked.action, context, linked.read));
}

/** What another server has to say stands in a frame, as in the answers of its tools. */
function framed(result: Readonly<Record<string, unknown>>): Readonly<Record<string, unknown>> {
  const contents = Array.isArray(result.contents) ? (result.contents as Readonly<Record<string, unknown>>[]) : [];
  return { ...result, contents: contents.map((one) => (typeof one.text === "string" ? { ...one, text: frame(one.text) } : one)) };
}

/** Resources always; prompts and completions where the server offers them. */
export function installCapabilities(server: Server, { connection, toContext }: Parts): void {
  server.setRequestHandler("resources/list", () => ({ resources: listResources() }));
  server.setRequestHandler("resources/templates/list", () => ({ resourceTemplates: listTemplates(connection) as never[] }));
  server.setRequestHandler("resources/read", async ({ params }, context) => {
    const callContext = toContext(context);
    const result = await answer(connection, readAny(connection, params.uri, callContext), params.uri);
    return result as unknown as ReadResourceResult;
  });
  if (connection.settings.capabilities !== "full") return;
  server.setRequestHandler("prompts/list", () => ({ prompts: listPrompts(connection) as never[] }));
  server.setRequestHandler("prompts/get", async ({ params }, context) => {
    const result = await answer(connection, getPrompt(connection, params.name, params.arguments ?? {}, toContext(context)));
    return result as unknown as GetPromptResult;
  });
  server.setRequestHandler("completion/complete", ({ params }, context) =>
    answer(connection, complete(connection, params, toContext(context))),
  );
}
