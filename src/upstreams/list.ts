import { cleanTool, type UpstreamTool } from "./clean.ts";
import type { Live } from "./client.ts";
import { faultInHeaders } from "./header-params.ts";

const MOST_PAGES = 1_000;
const MOST_TOOLS = 5_000;
/** All pages together. */
const LONGEST = 60_000;

export interface ToolList {
  readonly tools: readonly UpstreamTool[];
  /** What was left out, and why. */
  readonly left: readonly string[];
}

/** A tool that clients can take, or why it is left out. `headers`: its server may want parameters as headers. */
function takeTool(raw: unknown, headers: boolean): UpstreamTool | string {
  const tool = cleanTool(raw);
  const fault = typeof tool === "string" || !headers ? undefined : faultInHeaders(tool.inputSchema);
  return typeof tool === "string" || fault === undefined ? tool : `${tool.name}: ${fault}`;
}

/** All pages of an upstream's tools, within bounds: pages without end, and tools that no client could take, are left out and told. */
export async function readTools(live: Live, timeout: number, overHttp: boolean): Promise<ToolList> {
  const headers = overHttp && live.client.getProtocolEra() === "modern";
  if (!live.client.getServerCapabilities()?.tools) return { tools: [], left: ["it has no tools"] };
  const tools = new Map<string, UpstreamTool>();
  const left: string[] = [];
  const seen = new Set<string>();
  const until = Date.now() + LONGEST;
  let cursor: string | undefined;
  for (let page = 0; ; page++) {
    const params = cursor === undefined ? {} : { cursor };
    const answer = await live.client.request(
      { method: "tools/list", params },
      { timeout: Math.min(timeout, Math.max(1, until - Date.now())) },
    );
    for (const one of live.gate.takePage()) {
      const tool = takeTool(one, headers);
      if (typeof tool === "string") left.push(tool);
      else if (!tools.has(tool.name)) tools.set(tool.name, tool);
    }
    cursor = answer.nextCursor;
    if (cursor === undefined) break;
    if (seen.has(cursor) || page + 1 >= MOST_PAGES || tools.size >= MOST_TOOLS || Date.now() >= until) {
      left.push(`its list did not end after ${page + 1} pages`);
      break;
    }
    seen.add(cursor);
  }
  return { tools: [...tools.values()].slice(0, MOST_TOOLS), left };
}
