import { ProtocolError, ResourceNotFoundError, Server, type ServerContext } from "@modelcontextprotocol/server";
import { createBridge } from "../../src/app.ts";
import { toHttpSettings } from "../../src/config/http-check.ts";
import { loadSettings } from "../../src/config/load.ts";
import { createLog } from "../../src/log.ts";
import { type HttpServer, serveOverHttp } from "../../src/transport/http.ts";
import { askForContext, codec, FIXTURE_TOOLS, PNG } from "./fixture-tools.ts";

type Json = Record<string, unknown>;

const user = (block: Json) => ({ role: "user", content: block });
const say = (text: string) => user({ type: "text", text });

interface Prompt {
  readonly arguments?: readonly string[];
  readonly get: (args: Readonly<Record<string, string>>, context: ServerContext) => Json;
}

const PROMPTS: Readonly<Record<string, Prompt>> = {
  test_simple_prompt: { get: () => ({ messages: [say("This is a simple prompt for testing.")] }) },
  test_prompt_with_arguments: {
    arguments: ["arg1", "arg2"],
    get: ({ arg1, arg2 }) => ({ messages: [say(`Prompt with arguments: arg1='${arg1}', arg2='${arg2}'`)] }),
  },
  test_prompt_with_embedded_resource: {
    arguments: ["resourceUri"],
    get: ({ resourceUri }) => ({
      messages: [
        user({
          type: "resource",
          resource: { uri: resourceUri, mimeType: "text/plain", text: "Embedded resource content for testing." },
        }),
        say("Please process the embedded resource above."),
      ],
    }),
  },
  test_prompt_with_image: {
    get: () => ({ messages: [user({ type: "image", data: PNG, mimeType: "image/png" }), say("Please analyze the image above.")] }),
  },
  test_input_required_result_prompt: {
    get: (_args, context) => {
      const found = askForContext(context);
      return typeof found === "string" ? { messages: [say(`In the context of ${found}`)] } : found;
    },
  },
};

const RESOURCES: Readonly<Record<string, Json>> = {
  "test://static-text": { mimeType: "text/plain", text: "This is the content of the static text resource." },
  "test://static-binary": { mimeType: "image/png", blob: PNG },
  "test://watched-resource": { mimeType: "text/plain", text: "Watched." },
};

function readResource(uri: string): Json {
  const id = /^test:\/\/template\/([^/]+)\/data$/.exec(uri)?.[1];
  if (id !== undefined)
    return { mimeType: "application/json", text: JSON.stringify({ id, templateTest: true, data: `Data for ID: ${id}` }) };
  const found = RESOURCES[uri];
  if (!found) throw new ResourceNotFoundError(uri);
  return found;
}

function addTools(server: Server): void {
  server.setRequestHandler("tools/list", () => ({
    tools: Object.entries(FIXTURE_TOOLS).map(([name, { description, inputSchema }]) => ({
      name,
      description,
      inputSchema: (inputSchema ?? { type: "object", properties: {} }) as never,
    })),
  }));
  server.setRequestHandler("tools/call", async ({ params }, context) => {
    const tool = FIXTURE_TOOLS[params.name];
    if (!tool) throw new ProtocolError(-32_602, `There is no tool ${params.name}.`);
    return (await tool.run(params.arguments ?? {}, context)) as never;
  });
}

function addResources(server: Server): void {
  server.setRequestHandler("resources/list", () => ({
    resources: Object.entries(RESOURCES).map(([uri, { mimeType }]) => ({
      uri,
      name: uri.slice("test://".length),
      description: `The resource ${uri}`,
      mimeType: String(mimeType),
    })),
  }));
  server.setRequestHandler("resources/templates/list", () => ({
    resourceTemplates: [{ uriTemplate: "test://template/{id}/data", name: "template", description: "By id", mimeType: "application/json" }],
  }));
  server.setRequestHandler("resources/read", ({ params }) => ({ contents: [{ uri: params.uri, ...readResource(params.uri) }] as never }));
  server.setRequestHandler("resources/subscribe", () => ({}));
  server.setRequestHandler("resources/unsubscribe", () => ({}));
}

function addPrompts(server: Server): void {
  server.setRequestHandler("prompts/list", () => ({
    prompts: Object.entries(PROMPTS).map(([name, prompt]) => ({
      name,
      description: `The prompt ${name}`,
      arguments: (prompt.arguments ?? []).map((argument) => ({ name: argument, description: argument, required: true })),
    })),
  }));
  server.setRequestHandler("prompts/get", ({ params }, context) => {
    const prompt = PROMPTS[params.name];
    if (!prompt) throw new ProtocolError(-32_602, `There is no prompt ${params.name}.`);
    return prompt.get(params.arguments ?? {}, context) as never;
  });
  server.setRequestHandler("completion/complete", () => ({ completion: { values: ["paris", "park", "party"], total: 3, hasMore: false } }));
}

function createFixtureServer(): Server {
  const server = new Server(
    { name: "conformance-fixtures", version: "1.0.0" },
    {
      capabilities: { tools: {}, resources: { subscribe: true }, prompts: {}, completions: {}, logging: {} },
      requestState: { verify: codec.verify },
    },
  );
  addTools(server);
  addResources(server);
  addPrompts(server);
  return server;
}

/** Our transport, sessions and settings, with the suite's fixtures in place of GitLab's tools. */
export function startFixtureServer(): Promise<HttpServer> {
  const { settings: loaded } = loadSettings({ argv: ["--http", "--port=0", "--rate-limit=1000000"], env: {}, transport: "http" });
  const { settings } = toHttpSettings(loaded);
  const log = createLog({ level: "warn" });
  const bridge = createBridge({ settings, log, version: "0.0.0", cwd: "/" });
  return serveOverHttp({ settings, log, bridge: { ...bridge, createServer: createFixtureServer } });
}
