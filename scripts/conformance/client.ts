import { Client, InMemoryTransport } from "@modelcontextprotocol/client";
import { createBridge } from "../../src/app.ts";
import { loadSettings } from "../../src/config/load.ts";
import { createLog } from "../../src/log.ts";
import { openUpstreams } from "../../src/upstreams/open.ts";

// The suite starts this with the address of its server, which stands behind the bridge as an upstream. A client of the bridge then calls what it
// lists: what the suite sees is what the bridge sends. Its scenarios name calls, or leave them to us.
type Json = Record<string, unknown>;
interface Given {
  readonly toolCalls?: readonly { readonly name: string; readonly arguments: Json }[];
}

const url = process.argv.at(-1) ?? "";
const given = JSON.parse(process.env.MCP_CONFORMANCE_CONTEXT ?? "{}") as Given;

const EXAMPLES: Readonly<Record<string, unknown>> = { string: "a word", integer: 3, number: 2, boolean: true, array: [], object: {} };

/** An argument for each property, by its type. */
function exampleOf(schema: Json): Json {
  const properties = Object.entries((schema.properties ?? {}) as Readonly<Record<string, Json>>);
  return Object.fromEntries(
    properties.map(([name, { type, default: preset }]) => [name, preset ?? EXAMPLES[String(type ?? "string")] ?? "a word"]),
  );
}

const log = createLog({ level: "warn" });
const { settings } = loadSettings({ argv: ["--url=http://127.0.0.1:9", "--settle=1", "--toolsets=suite"], env: {}, transport: "stdio" });
const upstreams = openUpstreams({
  file: { mcpServers: { suite: { url, effect: "read", timeout: 20_000 } } },
  ...{ env: {}, version: "0.0.0", log, prefer: "rest", single: true },
  isTaken: () => false,
  isAction: () => false,
});
const bridge = createBridge({ settings, log, version: "0.0.0", cwd: "/", upstreams });
const server = bridge.createServer(bridge.connect(), { era: "legacy", transport: "stdio", canTell: () => true });
const client = new Client({ name: "suite", version: "1.0.0" }, { capabilities: { elicitation: { form: { applyDefaults: true } } } });
client.setRequestHandler("elicitation/create", () => ({ action: "accept", content: { confirmed: true } }));
const [here, there] = InMemoryTransport.createLinkedPair();
await server.connect(there as never);
await client.connect(here);

const listed = (await client.listTools()).tools;
const schemaOf = (name: string) => listed.find((tool) => tool.name === name)?.inputSchema as Json | undefined;
const own = listed.filter(({ _meta }) => _meta?.["com.gitlab/toolset"] === "suite");
const focal = schemaOf("json_schema_2020_12_tool");
const calls =
  given.toolCalls ??
  own.map(({ name, inputSchema }) => ({
    name,
    arguments: name === "json_schema_echo" && focal ? { schema: focal } : exampleOf(inputSchema as Json),
  }));
for (const call of calls) {
  const result = await client.callTool({
    name: "gitlab_execute_action",
    arguments: { action: `suite.${call.name}`, params: call.arguments },
  });
  console.log(`${call.name}: ${JSON.stringify(result).slice(0, 300)}`);
}
await client.close();
await upstreams.close();
process.exit(0);
