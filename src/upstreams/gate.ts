import type { JSONRPCMessage, Transport } from "@modelcontextprotocol/client";
import { cleanResult, isObject } from "./clean.ts";

/** Messages that nobody asked for: so many a second are let through. */
const MOST_NOTIFICATIONS = 200;

/** What the gate saw of a connection. */
export interface Gate {
  /** Tools of the page that answered last, as they came: the SDK would refuse a whole page for one bad tool. */
  readonly takePage: () => readonly unknown[];
}

type Message = { readonly id?: string | number; readonly method?: string; readonly result?: unknown; readonly params?: unknown };

/** Lets so many pass within a second. */
function createBrake(now: () => number): () => boolean {
  let since = 0;
  let count = 0;
  return () => {
    const at = now();
    if (at - since >= 1_000) {
      since = at;
      count = 0;
    }
    return ++count <= MOST_NOTIFICATIONS;
  };
}

/**
 * Stands between an upstream and the SDK: answers to calls are brought into the form of the specification, tool lists are taken aside,
 * floods are cut. So nothing that an upstream says about a call that ran can become a protocol error.
 */
export function gate(transport: Transport, now: () => number = Date.now): Gate {
  const asked = new Map<string | number, string>();
  let page: readonly unknown[] = [];
  const passes = createBrake(now);

  function clean(message: Message): Message | undefined {
    if (message.method !== undefined) return message.id === undefined && !passes() ? undefined : message;
    const method = message.id === undefined ? undefined : asked.get(message.id);
    if (message.id !== undefined) asked.delete(message.id);
    if (!isObject(message.result)) return message;
    if (method === "tools/list") {
      page = Array.isArray(message.result.tools) ? message.result.tools : [];
      return { ...message, result: { ...message.result, tools: [] } };
    }
    const complete = message.result.resultType === undefined || message.result.resultType === "complete";
    return method === "tools/call" && complete ? { ...message, result: cleanResult(message.result) } : message;
  }

  const send = transport.send.bind(transport);
  transport.send = (message, options) => {
    const { id, method } = message as Message;
    if (id !== undefined && method !== undefined) asked.set(id, method);
    return send(message, options);
  };
  let handler: Transport["onmessage"];
  // The SDK hands notifications on a moment later than answers: an answer right behind a progress would overtake it.
  let told = false;
  const deliver = (message: Message, run: () => void) => {
    if (message.method === "notifications/progress") {
      told = true;
      setImmediate(() => {
        told = false;
      });
    }
    if (told && message.method === undefined) setImmediate(run);
    else run();
  };
  Object.defineProperty(transport, "onmessage", {
    configurable: true,
    get: () => handler,
    set(next: Transport["onmessage"]) {
      handler = (message, extra) => {
        const passed = clean(message as Message);
        if (passed) deliver(passed, () => next?.(passed as JSONRPCMessage, extra));
      };
    },
  });
  return {
    takePage() {
      const taken = page;
      page = [];
      return taken;
    },
  };
}
