import { ProtocolError } from "@modelcontextprotocol/client";
import type { Live } from "./client.ts";

const MOST_FAILURES = 10;
const FIRST_WAIT = 500;

/** Modern servers tell of changes only those who listen; a stream that ends is opened again. */
export async function listen(live: Live, changed: () => void): Promise<void> {
  const { client } = live;
  if (client.getProtocolEra() !== "modern" || !client.getServerCapabilities()?.tools?.listChanged) return;
  for (let failures = 0; failures < MOST_FAILURES && !live.isClosed(); ) {
    try {
      const subscription = await client.listen({ toolsListChanged: true });
      if (failures > 0) changed();
      failures = 0;
      if ((await subscription.closed) === "local") return;
    } catch {
      // Tried again below.
    }
    failures++;
    await new Promise((resolve) => setTimeout(resolve, FIRST_WAIT * 2 ** failures).unref());
  }
}

/** A server over HTTP that was started anew closes nothing: without a question now and then its changes would never be heard again. */
export function feelPulse(live: Live, every: number, timeout: number, gone: () => void): NodeJS.Timeout {
  const { client } = live;
  const timer = setInterval(() => {
    const asked = client.getProtocolEra() === "modern" ? client.discover({ timeout }) : client.ping({ timeout });
    asked.catch((error: unknown) => {
      if (!(error instanceof ProtocolError)) gone();
    });
  }, every);
  return timer.unref();
}
