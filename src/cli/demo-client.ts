import { Client } from "@modelcontextprotocol/client";
import { StdioClientTransport } from "@modelcontextprotocol/client/stdio";
import { estimateJson, estimateTokens } from "../executor/tokens.ts";

export interface DemoResult {
  readonly text: string;
  readonly json: Readonly<Record<string, unknown>>;
  readonly isError: boolean;
}

/** A real MCP client on a child process, with a record of what went over the wire. */
export interface DemoClient {
  /** Names of the last list, and its tokens as sent. */
  list(): Promise<{ readonly names: readonly string[]; readonly tokens: number }>;
  call(name: string, args: Readonly<Record<string, unknown>>): Promise<DemoResult>;
  changes(): number;
  /** What a host would have put before a model: the first list, every call and every answer's text. */
  record(): { readonly calls: number; readonly firstList: number; readonly tokens: number };
  close(): Promise<void>;
}

export interface DemoServer {
  readonly command: string;
  readonly args: readonly string[];
  readonly env: Readonly<Record<string, string>>;
}

export async function connectDemo(server: DemoServer, flags: readonly string[] = []): Promise<DemoClient> {
  const client = new Client({ name: "demo", version: "1.0.0" });
  let changes = 0;
  let calls = 0;
  let firstList = 0;
  let tokens = 0;
  const list = async () => {
    const { tools } = await client.listTools();
    const cost = estimateJson(tools);
    if (firstList === 0) firstList = cost;
    tokens += cost;
    return { names: tools.map((tool) => tool.name), tokens: cost };
  };
  client.setNotificationHandler("notifications/tools/list_changed", async () => {
    changes++;
    await list();
  });
  await client.connect(new StdioClientTransport({ command: server.command, args: [...server.args, ...flags], env: { ...server.env } }));
  return {
    list,
    async call(name, args) {
      calls++;
      const result = await client.callTool({ name, arguments: { ...args } });
      const blocks = result.content as readonly { readonly text?: string }[];
      const text = blocks.map((block) => block.text ?? "").join("\n");
      tokens += estimateJson({ name, args }) + estimateTokens(text);
      return { text, json: (result.structuredContent ?? {}) as Record<string, unknown>, isError: result.isError === true };
    },
    changes: () => changes,
    record: () => ({ calls, firstList, tokens }),
    close: () => client.close(),
  };
}
