import type { JSONRPCMessage, McpServerFactory, Transport } from "@modelcontextprotocol/server";
import { StdioServerTransport, serveStdio } from "@modelcontextprotocol/server/stdio";
import type { Link } from "../surface/connection.ts";

/** Follows the connection's `subscriptions/listen`: the SDK tells the server nothing of it. */
class ListenTap {
  readonly #subscriptions = new Set<string | number>();

  /** Whether the client listens for changes of the tool list now. */
  listens(): boolean {
    return this.#subscriptions.size > 0;
  }

  sent(message: JSONRPCMessage): void {
    if (!("method" in message) || message.method !== "notifications/subscriptions/acknowledged") return;
    const params = (message.params ?? {}) as { notifications?: { toolsListChanged?: boolean }; _meta?: Record<string, unknown> };
    const id = params._meta?.["io.modelcontextprotocol/subscriptionId"];
    if (params.notifications?.toolsListChanged && (typeof id === "string" || typeof id === "number")) this.#subscriptions.add(id);
  }

  received(message: JSONRPCMessage): void {
    if (!("method" in message) || message.method !== "notifications/cancelled") return;
    const id = (message.params as { requestId?: string | number } | undefined)?.requestId;
    if (id !== undefined) this.#subscriptions.delete(id);
  }
}

/** Puts the tap on both directions of a transport. */
function tapped(transport: Transport, tap: ListenTap): Transport {
  const send = transport.send.bind(transport);
  transport.send = (message, options) => {
    tap.sent(message);
    return send(message, options);
  };
  let handler: Transport["onmessage"];
  Object.defineProperty(transport, "onmessage", {
    configurable: true,
    get: () => handler,
    set(next: Transport["onmessage"]) {
      handler = (message, extra) => {
        tap.received(message);
        next?.(message, extra);
      };
    },
  });
  return transport;
}

export interface StdioOptions {
  readonly input?: NodeJS.ReadableStream;
  readonly output?: NodeJS.WritableStream;
  /** Makes the server of this connection; may be called for a probe and then again. */
  readonly createServer: (link: Link) => ReturnType<McpServerFactory>;
  readonly onError: (error: Error) => void;
  /** Called once, when the client has gone: nothing in flight is waited for. */
  readonly onEnd: () => void;
}

/** Serves one client over stdin and stdout, in both eras. */
export function serveOverStdio(options: StdioOptions): void {
  const input = options.input ?? process.stdin;
  const output = options.output ?? process.stdout;
  const tap = new ListenTap();
  const transport = new StdioServerTransport(input as NodeJS.ReadStream, output as NodeJS.WriteStream);
  serveStdio(
    ({ era }) =>
      options.createServer({
        era,
        transport: "stdio",
        canTell: () => era === "legacy" || tap.listens(),
      }),
    { transport: tapped(transport, tap), onerror: options.onError },
  );
  input.once("end", options.onEnd);
  input.once("close", options.onEnd);
  output.once("error", options.onEnd);
}
