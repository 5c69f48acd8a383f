import { createRequestStateCodec, inputRequired, inputResponse, type ServerContext } from "@modelcontextprotocol/server";

export const PNG = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR4nGP4z8DwHwAFAAH/iZk9HQAAAABJRU5ErkJggg==";
const WAV = Buffer.from("RIFF\x24\0\0\0WAVEfmt \x10\0\0\0\x01\0\x01\0\x40\x1f\0\0\x40\x1f\0\0\x01\0\x08\0data\0\0\0\0", "latin1").toString(
  "base64",
);

type Json = Record<string, unknown>;

/** A tool that the suite expects a server under test to have. */
export interface FixtureTool {
  readonly description: string;
  readonly inputSchema?: Json;
  readonly run: (args: Json, context: ServerContext) => Promise<Json> | Json;
}

export const codec = createRequestStateCodec<{ readonly step: number }>({ key: Buffer.alloc(32, 7) });

const text = (value: string): Json => ({ content: [{ type: "text", text: value }] });
const content = (...blocks: Json[]): Json => ({ content: blocks });
const pause = () => new Promise((resolve) => setTimeout(resolve, 50));
const form = (properties: Json, required: readonly string[] = []): Json => ({ type: "object", properties, required: [...required] });

type Elicit = Parameters<typeof inputRequired.elicit>[0];
const elicit = (message: string, requestedSchema: Json) => inputRequired.elicit({ message, requestedSchema } as unknown as Elicit);
const sample = (question: string, maxTokens: number) =>
  inputRequired.createMessage({ messages: [{ role: "user", content: { type: "text", text: question } }], maxTokens });

const answerOf = ({ mcpReq }: ServerContext, key: string) => inputResponse(mcpReq.inputResponses, key);
const isAnswered = (context: ServerContext, ...keys: string[]) => keys.every((key) => answerOf(context, key).kind !== "missing");
const raw = ({ mcpReq }: ServerContext, key: string): unknown => (mcpReq.inputResponses as Json | undefined)?.[key];
const said = (context: ServerContext, key: string, field: string): string => {
  const view = answerOf(context, key);
  return view.kind === "elicit" && view.action === "accept" ? String(view.content?.[field] ?? "") : "";
};
const ask = (inputRequests: Json, requestState?: string) =>
  inputRequired({ inputRequests: inputRequests as never, ...(requestState === undefined ? {} : { requestState }) }) as unknown as Json;

/** Asks once, then tells what was answered. */
const askOnce = (message: string, schema: Json, tell: string): FixtureTool => ({
  description: message,
  run: (args, context) => {
    if (!isAnswered(context, "answer")) return ask({ answer: elicit(String(args.message ?? message), schema) });
    const view = answerOf(context, "answer");
    const found = view.kind === "elicit" ? { action: view.action, content: "content" in view ? view.content : undefined } : {};
    return text(`${tell}: action=${(found as Json).action}, content=${JSON.stringify((found as Json).content ?? {})}`);
  },
});

const CONFIRM = { confirm: elicit("Please confirm", form({ ok: { type: "boolean" } }, ["ok"])) };

const withState = (tell: string): FixtureTool => ({
  description: "Needs a confirmation and the state it sent",
  run: async (_args, context) => {
    const state = context.mcpReq.requestState<{ step: number }>();
    if (isAnswered(context, "confirm") && typeof state === "object") return text(tell);
    return ask(CONFIRM, await codec.mint({ step: 1 }));
  },
});

const CHOICES = ["value1", "value2", "value3"];
const titled = (titles: readonly string[]) => CHOICES.map((value, index) => ({ const: value, title: titles[index] }));

const LEGACY: Record<string, FixtureTool> = {
  test_simple_text: { description: "Text", run: () => text("This is a simple text response for testing.") },
  test_image_content: { description: "An image", run: () => content({ type: "image", data: PNG, mimeType: "image/png" }) },
  test_audio_content: { description: "A sound", run: () => content({ type: "audio", data: WAV, mimeType: "audio/wav" }) },
  test_embedded_resource: {
    description: "A resource",
    run: () =>
      content({
        type: "resource",
        resource: { uri: "test://embedded-resource", mimeType: "text/plain", text: "This is an embedded resource content." },
      }),
  },
  test_multiple_content_types: {
    description: "Text, image and resource",
    run: () =>
      content(
        { type: "text", text: "Multiple content types test:" },
        { type: "image", data: PNG, mimeType: "image/png" },
        {
          type: "resource",
          resource: { uri: "test://mixed-content-resource", mimeType: "application/json", text: '{"test":"data","value":123}' },
        },
      ),
  },
  test_error_handling: {
    description: "Fails",
    run: () => ({ isError: true, ...text("This tool intentionally returns an error for testing") }),
  },
  test_tool_with_logging: {
    description: "Logs",
    run: async (_args, { mcpReq }) => {
      for (const line of ["Tool execution started", "Tool processing data", "Tool execution completed"]) {
        await mcpReq.log("info", line);
        await pause();
      }
      return text("done");
    },
  },
  test_tool_with_progress: {
    description: "Reports progress",
    run: async (_args, { mcpReq }) => {
      const token = mcpReq._meta?.progressToken;
      for (const progress of [0, 50, 100]) {
        if (token !== undefined)
          await mcpReq.notify({ method: "notifications/progress", params: { progressToken: token, progress, total: 100 } });
        await pause();
      }
      return text("done");
    },
  },
  test_sampling: {
    description: "Asks the client's model",
    inputSchema: form({ prompt: { type: "string" } }, ["prompt"]),
    run: (args, context) => {
      if (raw(context, "sample") === undefined) return ask({ sample: sample(String(args.prompt), 100) });
      const result = raw(context, "sample") as { content?: { text?: string } };
      return text(`LLM response: ${result.content?.text ?? ""}`);
    },
  },
  test_elicitation: {
    ...askOnce(
      "Who are you?",
      form(
        {
          username: { type: "string", description: "User's response" },
          email: { type: "string", description: "User's email address" },
        },
        ["username", "email"],
      ),
      "User response",
    ),
    inputSchema: form({ message: { type: "string" } }, ["message"]),
  },
  test_elicitation_sep1034_defaults: askOnce(
    "Defaults",
    form({
      name: { type: "string", default: "John Doe" },
      age: { type: "integer", default: 30 },
      score: { type: "number", default: 95.5 },
      status: { type: "string", enum: ["active", "inactive", "pending"], default: "active" },
      verified: { type: "boolean", default: true },
    }),
    "Elicitation completed",
  ),
  test_elicitation_sep1330_enums: askOnce(
    "Choices",
    form({
      untitledSingle: { type: "string", enum: ["option1", "option2", "option3"] },
      titledSingle: { type: "string", oneOf: titled(["First Option", "Second Option", "Third Option"]) },
      legacyEnum: { type: "string", enum: ["opt1", "opt2", "opt3"], enumNames: ["Option One", "Option Two", "Option Three"] },
      untitledMulti: { type: "array", items: { type: "string", enum: ["option1", "option2", "option3"] } },
      titledMulti: { type: "array", items: { anyOf: titled(["First Choice", "Second Choice", "Third Choice"]) } },
    }),
    "Elicitation completed",
  ),
  test_reconnection: {
    description: "Closes its stream in the middle",
    run: async (_args, { http }) => {
      http?.closeSSE?.();
      await pause();
      return text("Reconnection test completed successfully");
    },
  },
};

const NAME = { user_name: elicit("What is your name?", form({ name: { type: "string" } }, ["name"])) };
const ROOTS = { client_roots: inputRequired.listRoots() };

const MODERN: Record<string, FixtureTool> = {
  test_input_required_result_elicitation: {
    description: "Asks for a name",
    run: (_args, context) => {
      const name = said(context, "user_name", "name");
      return name === "" ? ask(NAME) : text(`Hello, ${name}!`);
    },
  },
  test_input_required_result_sampling: {
    description: "Asks for a capital",
    run: (_args, context) =>
      raw(context, "capital_question") === undefined
        ? ask({ capital_question: sample("What is the capital of France?", 100) })
        : text((raw(context, "capital_question") as { content?: { text?: string } }).content?.text ?? ""),
  },
  test_input_required_result_list_roots: {
    description: "Asks for roots",
    run: (_args, context) => (raw(context, "client_roots") === undefined ? ask(ROOTS) : text(JSON.stringify(raw(context, "client_roots")))),
  },
  test_input_required_result_request_state: withState("state-ok"),
  test_input_required_result_tampered_state: withState("state-ok"),
  test_input_required_result_multiple_inputs: {
    description: "Asks for three things at once",
    run: async (_args, context) => {
      const keys = ["user_name", "greeting", "client_roots"];
      if (keys.every((key) => raw(context, key) !== undefined)) return text("all answered");
      return ask({ ...NAME, greeting: sample("Generate a greeting", 50), ...ROOTS }, await codec.mint({ step: 1 }));
    },
  },
  test_input_required_result_multi_round: {
    description: "Asks twice",
    run: async (_args, context) => {
      const step = context.mcpReq.requestState<{ step: number }>();
      if (typeof step === "object" && step.step === 2 && isAnswered(context, "step2")) return text("both answered");
      if (typeof step === "object" && step.step === 1 && isAnswered(context, "step1"))
        return ask(
          { step2: elicit("Step 2: What is your favorite color?", form({ color: { type: "string" } }, ["color"])) },
          await codec.mint({ step: 2 }),
        );
      return ask(
        { step1: elicit("Step 1: What is your name?", form({ name: { type: "string" } }, ["name"])) },
        await codec.mint({ step: 1 }),
      );
    },
  },
  test_input_required_result_capabilities: {
    description: "Asks only for what the client can do",
    run: (_args, context) => {
      const envelope = context.mcpReq.envelope as Json | undefined;
      const can = (envelope?.["io.modelcontextprotocol/clientCapabilities"] ?? {}) as Json;
      const wanted = { ...(can.elicitation ? NAME : {}), ...(can.sampling ? { greeting: sample("Generate a greeting", 50) } : {}) };
      if (Object.keys(wanted).length === 0 || Object.keys(wanted).every((key) => raw(context, key) !== undefined)) return text("done");
      return ask(wanted);
    },
  },
  test_missing_capability: { description: "Needs sampling", run: () => ask({ greeting: sample("Generate a greeting", 50) }) },
  test_streaming_elicitation: {
    description: "Asks in the middle",
    run: (_args, context) => (isAnswered(context, "user_name") ? text("done") : ask(NAME)),
  },
  test_logging_tool: {
    description: "Logs for those who asked for it",
    run: async (_args, { mcpReq }) => {
      await mcpReq.log("info", "a line");
      return text("done");
    },
  },
};

const address = { $anchor: "addressDef", type: "object", properties: { street: { type: "string" }, city: { type: "string" } } };

/** Keywords that a list must pass on untouched. */
const KEYWORDS: FixtureTool = {
  description: "Tool with JSON Schema 2020-12 features",
  inputSchema: {
    $schema: "https://json-schema.org/draft/2020-12/schema",
    type: "object",
    $defs: { address },
    properties: {
      name: { type: "string" },
      address: { $ref: "#/$defs/address" },
      contactMethod: { type: "string", enum: ["phone", "email"] },
      phone: { type: "string" },
      email: { type: "string" },
    },
    allOf: [{ anyOf: [{ required: ["phone"] }, { required: ["email"] }] }],
    if: { properties: { contactMethod: { const: "phone" } }, required: ["contactMethod"] },
    // biome-ignore lint/suspicious/noThenProperty: a keyword of JSON Schema
    then: { required: ["phone"] },
    else: { required: ["email"] },
    additionalProperties: false,
  },
  run: () => text("done"),
};

export const FIXTURE_TOOLS: Readonly<Record<string, FixtureTool>> = { ...LEGACY, ...MODERN, json_schema_2020_12_tool: KEYWORDS };

/** A prompt that asks before it answers. */
export const askForContext = (context: ServerContext): Json | string => {
  const found = said(context, "user_context", "context");
  return found === ""
    ? ask({ user_context: elicit("What context should the prompt use?", form({ context: { type: "string" } }, ["context"])) })
    : found;
};
