import { readFileSync } from "node:fs";
import { afterEach, describe, expect, it } from "vitest";
import { createModel, type ModelOptions, SYSTEM } from "../../src/ab/drivers/model.ts";
import { isBudgetReached } from "../../src/ab/drivers/model-budget.ts";
import { openAi as openAiApi } from "../../src/ab/drivers/model-openai.ts";
import { MODEL_FLAGS, type ModelFlags, modelOptions } from "../../src/ab/drivers/model-options.ts";
import { toWait } from "../../src/ab/drivers/model-send.ts";
import { cost, priceOf, toPrices } from "../../src/ab/prices.ts";
import type { Json, Seen } from "../../src/ab/types.ts";
import { contextFor, fakeHost, type StubAnswer, type StubRequest, startStub, taskFor } from "./model-stub.ts";

const KEY = "very-secret-key-1";
const TOOL = { name: "add", description: "Adds.", inputSchema: { type: "object", properties: { a: { type: "integer" } } } };

let stub: Awaited<ReturnType<typeof startStub>> | undefined;
afterEach(async () => {
  await stub?.close();
  stub = undefined;
});

const pauses: number[] = [];
async function setUp(answers: readonly StubAnswer[], options: Partial<ModelOptions> = {}) {
  stub = await startStub(answers);
  pauses.length = 0;
  const driver = createModel({
    api: "openai",
    url: `${stub.url}/v1`,
    model: "m",
    key: () => KEY,
    maxOutput: 100,
    retries: 2,
    timeout: 30_000,
    budget: {},
    pause: async (ms) => void pauses.push(ms),
    ...options,
  });
  const seen = (name: string, args: Json): Seen => ({ isError: args.a === 13, text: `${name} ${JSON.stringify(args)}` });
  const fake = fakeHost(() => [TOOL], seen, "Projects have numbers.");
  return { driver, ...fake, requests: stub.requests };
}

const messagesOf = (request: StubRequest | undefined): Json[] => (request?.body.messages ?? []) as Json[];

const usage = { prompt_tokens: 50, completion_tokens: 7, prompt_tokens_details: { cached_tokens: 20 } };
const call = (id: string, args: string, name = "add") => ({ id, type: "function", function: { name, arguments: args } });
const openAi = (content: string | null, ...tool_calls: unknown[]): StubAnswer => ({
  body: {
    choices: [
      { message: { role: "assistant", content, reasoning: "not to be sent back", ...(tool_calls.length > 0 ? { tool_calls } : {}) } },
    ],
    usage,
  },
});
const claude = (...content: unknown[]): StubAnswer => ({
  body: { content, usage: { input_tokens: 30, output_tokens: 5, cache_read_input_tokens: 12, cache_creation_input_tokens: 3 } },
});

const failure = async (work: Promise<void>) => {
  const error = await work.then(
    () => undefined,
    (thrown: unknown) => thrown,
  );
  return error as Error & { code?: string; hint?: string };
};

describe("a conversation over chat completions", () => {
  it("makes the calls in order, sends their results back and ends with the answer", async () => {
    const { driver, host, calls, answers, requests } = await setUp(
      [openAi("First two.", call("c1", '{"a":1}'), call("c2", '{"a":13}')), openAi(null, call("c3", "")), openAi("It is 14.")],
      { temperature: 0.5 },
    );
    await driver.run(taskFor("Add them."), host, contextFor({ seed: 9 }));
    const counted = { prompt: 50, cached: 20, completion: 7 };
    expect(calls).toEqual([
      { name: "add", args: { a: 1 }, said: "First two.", beside: { usage: counted } },
      { name: "add", args: { a: 13 }, beside: { sameReply: true } },
      { name: "add", args: {}, beside: { usage: counted } },
    ]);
    expect(answers).toEqual([{ text: "It is 14.", beside: { usage: counted } }]);
    expect(requests.map(({ path }) => path)).toEqual(Array(3).fill("/v1/chat/completions"));
    expect(requests[0]?.headers.authorization).toBe(`Bearer ${KEY}`);
    expect(requests[0]?.body).toEqual({
      model: "m",
      messages: [
        { role: "system", content: `${SYSTEM}\n\nThe server says:\nProjects have numbers.` },
        { role: "user", content: "Add them." },
      ],
      tools: [{ type: "function", function: { name: "add", description: "Adds.", parameters: TOOL.inputSchema } }],
      max_tokens: 100,
      seed: 9,
      temperature: 0.5,
    });
    expect(messagesOf(requests[1]).slice(2)).toEqual([
      { role: "assistant", content: "First two.", tool_calls: [call("c1", '{"a":1}'), call("c2", '{"a":13}')] },
      { role: "tool", tool_call_id: "c1", content: 'add {"a":1}' },
      { role: "tool", tool_call_id: "c2", content: 'add {"a":13}' },
    ]);
  });

  it("gives arguments that are no JSON object back to the model and calls nothing, three times in a row at most", async () => {
    const broken = openAi(null, call("c", '{"a":'));
    const once = await setUp([broken, openAi(null, call("d", '{"a":1}')), openAi("Done.")]);
    await once.driver.run(taskFor("x"), once.host, contextFor());
    expect(once.calls).toEqual([{ name: "add", args: { a: 1 }, beside: { usage: { prompt: 100, cached: 40, completion: 14 } } }]);
    expect(messagesOf(once.requests[1]).at(-1)?.content).toMatch(/not a JSON object/);
    await stub?.close();
    const always = await setUp([broken, broken, openAi(null, call("c", "[1]")), openAi("Never asked.")]);
    expect((await failure(always.driver.run(taskFor("x"), always.host, contextFor()))).message).toMatch(/3 replies in a row/);
    expect(always.calls).toEqual([]);
  });

  it("makes no more calls than it may and still lets the model answer", async () => {
    const { driver, host, calls, answers } = await setUp([
      openAi(null, call("a", '{"a":1}'), call("b", '{"a":2}'), call("c", '{"a":3}')),
      openAi("Two were done.", call("d", '{"a":4}')),
    ]);
    await driver.run(taskFor("x"), host, contextFor({ maxCalls: 2 }));
    expect(calls.map(({ args }) => args.a)).toEqual([1, 2]);
    expect(answers.map(({ text }) => text)).toEqual(["Two were done."]);
  });

  it("sends the list that the host has at that turn", async () => {
    const { driver, requests } = await setUp([openAi(null, call("a", "{}")), openAi("Done.")]);
    let turn = 0;
    const { host } = fakeHost(
      () => (turn === 0 ? [TOOL] : [TOOL, { ...TOOL, name: "more" }]),
      () => ({ isError: false, text: String(turn++) }),
    );
    await driver.run(taskFor("x"), host, contextFor());
    expect(requests.map(({ body }) => (body.tools as unknown[]).length)).toEqual([1, 2]);
  });

  it("names the limit as OpenAI's own models want it, and as other servers do", () => {
    const request = { model: "m", system: "", tools: [], entries: [], maxOutput: 9, seed: 1 };
    expect(openAiApi.body({ ...request, url: "https://api.openai.com/v1" })).toMatchObject({ max_completion_tokens: 9 });
    expect(openAiApi.body({ ...request, url: "http://127.0.0.1:1/v1" })).toMatchObject({ max_tokens: 9 });
  });

  it("refuses names that the APIs refuse before anything is sent", async () => {
    const { driver, requests } = await setUp([]);
    const { host } = fakeHost(
      () => [TOOL, { ...TOOL, name: "a".repeat(65) }, { ...TOOL, name: "with.dot" }],
      () => ({ isError: false, text: "" }),
    );
    const error = await failure(driver.run(taskFor("x"), host, contextFor()));
    expect(error.message).toMatch(/arm "some".*"a{65}", "with\.dot"/);
    expect(requests).toEqual([]);
  });
});

describe("a conversation over messages", () => {
  it("keeps the blocks as they came, marks errors, and counts cached input in", async () => {
    const thought = { type: "thinking", thinking: "hm", signature: "s" };
    const use = (id: string, input: unknown) => ({ type: "tool_use", id, name: "add", input });
    const { driver, host, calls, answers, requests } = await setUp(
      [
        claude(thought, { type: "text", text: "Let me add." }, use("u1", { a: 13 }), use("u2", "no")),
        claude({ type: "text", text: "Failed." }),
      ],
      { api: "anthropic" },
    );
    await driver.run(taskFor("Add."), host, contextFor());
    const counted = { prompt: 45, cached: 12, completion: 5 };
    expect(calls).toEqual([{ name: "add", args: { a: 13 }, said: "Let me add.", beside: { usage: counted } }]);
    expect(answers).toEqual([{ text: "Failed.", beside: { usage: counted } }]);
    expect(requests[0]?.path).toBe("/v1/v1/messages");
    expect(requests[0]?.headers).toMatchObject({ "x-api-key": KEY, "anthropic-version": "2023-06-01" });
    expect(requests[0]?.body).toEqual({
      model: "m",
      system: `${SYSTEM}\n\nThe server says:\nProjects have numbers.`,
      messages: [{ role: "user", content: "Add." }],
      tools: [{ name: "add", description: "Adds.", input_schema: TOOL.inputSchema }],
      max_tokens: 100,
    });
    expect(messagesOf(requests[1]).slice(1)).toEqual([
      { role: "assistant", content: [thought, { type: "text", text: "Let me add." }, use("u1", { a: 13 }), use("u2", "no")] },
      {
        role: "user",
        content: [
          { type: "tool_result", tool_use_id: "u1", content: 'add {"a":13}', is_error: true },
          { type: "tool_result", tool_use_id: "u2", content: "The arguments are not a JSON object. Nothing was called.", is_error: true },
        ],
      },
    ]);
  });

  it("refuses a reply that is not one", async () => {
    for (const body of [{ content: "text" }, { content: [{ type: "tool_use", id: "u" }] }, [], { error: { message: "x" } }]) {
      const { driver, host } = await setUp([{ body }], { api: "anthropic" });
      const error = await failure(driver.run(taskFor("x"), host, contextFor()));
      expect(error).toMatchObject({ code: "upstream_unavailable", hint: expect.stringMatching(/--model-api/) });
      await stub?.close();
    }
  });
});

describe("trouble at the API", () => {
  const busy = (header?: string): StubAnswer => ({
    status: 429,
    headers: header ? { "retry-after": header } : {},
    body: { error: "busy" },
  });

  it("waits as long as Retry-After says, then goes on", async () => {
    const { driver, host, answers, requests } = await setUp([busy("7"), { status: 503, body: "" }, openAi("Done.")]);
    await driver.run(taskFor("x"), host, contextFor());
    expect(pauses).toEqual([7_000, 2_000]);
    expect(requests).toHaveLength(3);
    expect(answers.map(({ text }) => text)).toEqual(["Done."]);
  });

  it("gives up after the tries that it has", async () => {
    const { driver, host, requests } = await setUp([busy("1"), busy("1"), busy("1"), openAi("Never.")]);
    expect(await failure(driver.run(taskFor("x"), host, contextFor()))).toMatchObject({ code: "rate_limited" });
    expect(requests).toHaveLength(3);
  });

  it("reads Retry-After as seconds or as a date, and never waits longer than a minute", () => {
    const now = Date.parse("2026-11-30T10:00:00Z");
    expect(toWait("Mon, 30 Nov 2026 10:00:09 GMT", 0, now)).toBe(9_000);
    expect(toWait("Mon, 30 Nov 2026 09:00:00 GMT", 0, now)).toBe(0);
    expect(toWait("86400", 0, now)).toBe(60_000);
    expect([toWait("soon", 1, now), toWait(null, 3, now), toWait(null, 12, now)]).toEqual([2_000, 8_000, 60_000]);
  });

  it("does not repeat what would be refused again, and never shows the key", async () => {
    const { driver, host, requests } = await setUp([{ status: 401, body: { error: { message: `Incorrect API key provided: ${KEY}` } } }]);
    const error = await failure(driver.run(taskFor("x"), host, contextFor()));
    expect(error).toMatchObject({ code: "unauthenticated", message: expect.stringMatching(/401.*Incorrect API key provided: \*\*\*/) });
    expect(requests).toHaveLength(1);
    expect(JSON.stringify([error, error.message, error.stack, driver])).not.toContain(KEY);
  });

  it("says so where the reply is no JSON or has no message, and where nobody listens", async () => {
    const page = await setUp([{ body: `<html>${KEY}` }]);
    const error = await failure(page.driver.run(taskFor("x"), page.host, contextFor()));
    expect(error.message).toBe("The model's API sent no JSON: <html>***");
    await stub?.close();
    const empty = await setUp([{ body: { choices: [] } }]);
    expect((await failure(empty.driver.run(taskFor("x"), empty.host, contextFor()))).message).toMatch(/cannot be read/);
    await stub?.close();
    stub = undefined;
    expect(await failure(empty.driver.run(taskFor("x"), empty.host, contextFor()))).toMatchObject({ code: "upstream_unavailable" });
    expect(pauses).toHaveLength(2);
  });

  it("gives up a request that is not answered, once, and counts it as spent", async () => {
    const { driver, host, requests } = await setUp([{ hang: true, body: "" }, openAi("Never.")], { timeout: 20, budget: { tokens: 600 } });
    expect(await failure(driver.run(taskFor("x"), host, contextFor()))).toMatchObject({ code: "timeout" });
    expect(isBudgetReached(await failure(driver.run(taskFor("x"), host, contextFor())))).toBe(true);
    expect(requests.length).toBeLessThanOrEqual(1);
  });

  it("stops when the run is given up", async () => {
    const { driver, host } = await setUp([openAi("Never.")]);
    const context = contextFor({ signal: AbortSignal.abort(new Error("given up")) });
    expect((await failure(driver.run(taskFor("x"), host, context))).message).toBe("given up");
  });
});

describe("the budget", () => {
  it("sends nothing that could go over the cap in tokens, over all runs of the driver", async () => {
    const { driver, host, requests } = await setUp(
      Array.from({ length: 12 }, () => openAi("One.")),
      { budget: { tokens: 600 } },
    );
    const errors: unknown[] = [];
    for (let run = 0; run < 12; run++) errors.push(await failure(driver.run(taskFor("x"), host, contextFor())));
    const refused = errors.findIndex(isBudgetReached);
    expect(refused).toBeGreaterThan(0);
    expect(errors.slice(refused).every(isBudgetReached)).toBe(true);
    expect(errors[refused]).toMatchObject({ message: expect.stringMatching(/600 tokens/) });
    expect(requests).toHaveLength(refused);
    // 57 tokens were counted for each; a request that is not sent yet is reckoned at its bytes and the longest reply.
    expect(requests.length * 57).toBeLessThanOrEqual(600 - 57);
  });

  it("counts requests that are under way", async () => {
    const { driver, host, requests } = await setUp([openAi("One."), openAi("Two.")], { budget: { tokens: 600 } });
    const errors = await Promise.all([0, 1].map(() => failure(driver.run(taskFor("x"), host, contextFor()))));
    expect(errors.filter(isBudgetReached)).toHaveLength(1);
    expect(requests).toHaveLength(1);
  });

  it("caps money by the price table", async () => {
    const price = { model: "m", input: 1_000, cached: 100, output: 10_000 };
    const { driver, host, requests } = await setUp([openAi("One.")], { budget: { money: { most: 1, price } } });
    expect(await failure(driver.run(taskFor("x"), host, contextFor()))).toMatchObject({
      message: expect.stringMatching(/budget of 1 for m/),
    });
    expect(requests).toEqual([]);
  });

  it("is no other error", () => {
    expect(isBudgetReached(new Error("budget"))).toBe(false);
  });
});

describe("options", () => {
  const flags: ModelFlags = { model: "m", "model-url": "http://127.0.0.1:1/v1/" };

  it("have defaults, and take the address with or without the API's path", () => {
    expect(modelOptions(flags, {})).toEqual({
      ...{ api: "openai", url: "http://127.0.0.1:1/v1", model: "m", maxOutput: 4_096, retries: 4, timeout: 120_000, budget: {} },
    });
    const urls = ["https://x.example/v1/chat/completions", "https://x.example/v1"].map(
      (url) => modelOptions({ ...flags, "model-url": url }, {}).url,
    );
    expect(urls).toEqual(["https://x.example/v1", "https://x.example/v1"]);
    const claudes = ["https://x.example/v1/messages", "https://x.example/v1", "https://x.example"].map(
      (url) => modelOptions({ ...flags, "model-api": "anthropic", "model-url": url }, {}).url,
    );
    expect(claudes).toEqual(Array(3).fill("https://x.example"));
  });

  it("read the key from the variable and cannot be written down with it", () => {
    const options = modelOptions({ ...flags, "model-key-env": "MY_KEY" }, { MY_KEY: KEY });
    expect(options.key?.()).toBe(KEY);
    expect(JSON.stringify(options)).not.toContain(KEY);
  });

  it("know the budget and the price", () => {
    const prices = toPrices(readFileSync("fixtures/ab/prices.json", "utf8"), "prices.json");
    const options = modelOptions({ ...flags, model: "sample-small", "budget-money": "2.5", "budget-tokens": "1000" }, {}, prices);
    expect(options.budget).toEqual({
      tokens: 1_000,
      money: { most: 2.5, price: { model: "sample-small", input: 0.4, cached: 0.1, output: 1.6 } },
    });
  });

  const bad: [ModelFlags, RegExp][] = [
    [{ "model-url": "http://x" }, /--model is missing/],
    [{ model: "m" }, /--model-url is missing/],
    [{ ...flags, "model-url": "x.example" }, /--model-url is "x\.example"/],
    [{ ...flags, "model-url": `https://me:${KEY}@x.example` }, /user or password/],
    [{ ...flags, "model-api": "grpc" }, /--model-api is "grpc"/],
    [{ ...flags, "model-temperature": "warm" }, /--model-temperature is "warm"/],
    [{ ...flags, "model-temperature": "2.1" }, /--model-temperature/],
    [{ ...flags, "model-max-output": "0" }, /--model-max-output/],
    [{ ...flags, "model-retries": "1.5" }, /--model-retries/],
    [{ ...flags, "model-timeout": "" }, /--model-timeout/],
    [{ ...flags, "budget-tokens": "-1" }, /--budget-tokens/],
    [{ ...flags, "budget-money": "1" }, /needs the price of "m"/],
    [{ ...flags, "model-key-env": "UNSET_ONE" }, /is not set/],
    [{ ...flags, "model-key-env": KEY }, /not the name of a variable/],
  ];
  it.each(bad)("%j is refused", (given, message) => {
    expect(() => modelOptions(given, {})).toThrow(message);
    try {
      modelOptions(given, {});
    } catch (error) {
      expect(JSON.stringify([error, (error as Error).message])).not.toContain(KEY);
    }
  });

  it("are all described", () => {
    for (const text of Object.values(MODEL_FLAGS)) expect(text.length).toBeGreaterThan(10);
  });
});

describe("prices", () => {
  const row = { model: "m", input: 3, cached: 0.3, output: 15 };
  const table = (more: object = {}) => JSON.stringify({ currency: "USD", rows: [row], ...more });

  it("give the cost of a run, with and without the cache", () => {
    const run = { prompt: 1_000_000, cached: 600_000, completion: 10_000 };
    expect(cost(run, row)).toBeCloseTo(0.4 * 3 + 0.6 * 0.3 + 0.01 * 15, 10);
    expect(cost({ ...run, cached: 0 }, row)).toBeCloseTo(3.15, 10);
  });

  it("are read from a table", () => {
    const prices = toPrices(table(), "p.json");
    expect(priceOf(prices, "m")).toEqual(row);
    expect(priceOf(prices, "other")).toBeUndefined();
  });

  it.each([
    ["{", /not JSON/],
    [table({ rows: [{ ...row, input: -1 }] }), /cannot be used/],
    [table({ rows: [{ ...row, cached: undefined }] }), /cannot be used/],
    [table({ rows: [row, row] }), /"m" stands in it twice/],
    [table({ more: 1 }), /cannot be used/],
  ])("refuse %s", (text, message) => {
    expect(() => toPrices(text, "p.json")).toThrow(message);
  });
});
