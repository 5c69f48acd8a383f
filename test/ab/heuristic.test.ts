import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { Client, InMemoryTransport } from "@modelcontextprotocol/client";
import { afterEach, describe, expect, it } from "vitest";
import { STYLE_ARMS } from "../../src/ab/arms.ts";
import { createHeuristic } from "../../src/ab/drivers/heuristic.ts";
import { toAnswer } from "../../src/ab/drivers/heuristic-answer.ts";
import { intentsOf } from "../../src/ab/drivers/heuristic-intents.ts";
import { recordsOf } from "../../src/ab/drivers/heuristic-memory.ts";
import { mentionsOf } from "../../src/ab/drivers/heuristic-mentions.ts";
import { rowsOf } from "../../src/ab/drivers/heuristic-offers.ts";
import { rolesOf } from "../../src/ab/drivers/heuristic-roles.ts";
import { rank, stem, tieBreak, toQuery } from "../../src/ab/drivers/heuristic-words.ts";
import type { Host, Json, ListedTool } from "../../src/ab/types.ts";
import { createBridge } from "../../src/app.ts";
import { loadActions } from "../../src/catalog/load.ts";
import { createLog } from "../../src/log.ts";
import { type Sandbox, startSandbox } from "../../src/sandbox/server.ts";
import { settingsFor } from "../support/settings.ts";
import { BOOK_TOOLS, book, dispatcherServer, groupServer, plainServer, searchServer, seen, tool } from "./heuristic-servers.ts";
import { contextFor, fakeHost, taskFor } from "./model-stub.ts";

const DRIVERS = join(import.meta.dirname, "../../src/ab/drivers");
const sources = readdirSync(DRIVERS)
  .filter((name) => name.startsWith("heuristic"))
  .map((name) => ({ name, text: readFileSync(join(DRIVERS, name), "utf8") }));

const run = (host: Host, prompt: string, more: Parameters<typeof contextFor>[0] = {}) =>
  createHeuristic().run(taskFor(prompt), host, contextFor(more));

describe("fairness", () => {
  it("imports nothing but its own files and the shared types", () => {
    const imports = sources.flatMap(({ text }) =>
      [...text.matchAll(/^(?:import|export|\}).*?from "([^"]+)"|import\("([^"]+)"/gm)].map((match) => match[1] ?? match[2]),
    );
    expect(imports.length).toBeGreaterThan(20);
    expect(imports.filter((path) => !/^\.\/heuristic[a-z-]*\.ts$|^\.\.\/types\.ts$/.test(path ?? ""))).toEqual([]);
  });

  it("knows no tool, action or style of ours by its name", () => {
    const entry = ["list_available_toolsets", "get_toolset_tools", "enable_toolset", "disable_toolset"];
    const named = loadActions().flatMap(({ id, tool }) => [id, tool]);
    const names = [
      ...entry,
      "gitlab_find_action",
      "gitlab_execute_action",
      "gitlab_read_action",
      ...named.filter((name) => /[._]/.test(name)),
      ...STYLE_ARMS,
    ];
    expect(names.length).toBeGreaterThan(2_000);
    const tokens = new Set(
      sources
        .flatMap(({ text }) => text.match(/[A-Za-z_]+(?:\.[A-Za-z_]+)?|[A-Za-z_]+/g) ?? [])
        .flatMap((token) => [token, ...token.split(".")]),
    );
    expect(names.filter((name) => tokens.has(name))).toEqual([]);
  });
});

describe("parts that tools play", () => {
  const partsOf = (tools: readonly ListedTool[]) => {
    const { plain, listers, ...parts } = rolesOf(tools);
    const named = Object.entries(parts).map(([part, all]) => [part, all.map((one) => one.tool.name)] as const);
    return Object.fromEntries(
      [...named, ["listers", listers.map(({ name }) => name)], ["plain", plain.map(({ name }) => name)]].filter(
        ([, all]) => (all?.length ?? 0) > 0,
      ),
    );
  };

  it("are told by texts and schemas, for servers of any kind", () => {
    expect(partsOf(plainServer().host.tools)).toEqual({ plain: BOOK_TOOLS.map(({ name }) => name) });
    expect(partsOf(searchServer().host.tools)).toEqual({
      searchers: ["lookup_capability"],
      showers: ["describe_tool"],
      runners: ["invoke"],
    });
    expect(partsOf(groupServer("never").host.tools)).toEqual({ openers: ["load_category"], listers: ["show_categories"] });
    expect(partsOf(dispatcherServer().host.tools)).toEqual({ dispatchers: ["books"], showers: ["show_action"], plain: ["weather"] });
  });

  it("are not seen in tools that search, enable or list other things", () => {
    const others = [
      tool(
        "search_code",
        "Search code in all projects. Tools and actions of CI files are found too.",
        { query: { type: "string" } },
        ["query"],
        true,
      ),
      tool("enable_runner", "Enable a runner for a project.", { runner_id: { type: "integer" } }, ["runner_id"]),
      tool("list_groups", "List groups and subgroups.", {}, [], true),
      tool("run_job", "Run a manual job.", { job_id: { type: "integer" }, variables: { type: "object" } }, ["job_id"]),
    ];
    expect(partsOf(others)).toEqual({ plain: others.map(({ name }) => name) });
  });
});

describe("one request, whatever the server offers", () => {
  const review = 'Write a review of book 7: "Read it in one night."';
  const args = { book_id: 7, body: "Read it in one night." };

  it("calls what is listed", async () => {
    const { host, calls, answers } = plainServer();
    await run(host, review);
    expect(calls).toEqual([{ name: "add_book_review", args }]);
    expect(answers).toHaveLength(1);
  });

  it("searches, has the schema shown, and runs", async () => {
    const { host, calls } = searchServer();
    await run(host, review);
    expect(calls.map(({ name }) => name)).toEqual(["lookup_capability", "describe_tool", "invoke"]);
    expect(calls.at(-1)?.args).toEqual({ tool_name: "add_book_review", arguments: args });
  });

  it.each(["at_once", "next_turn", "never"] as const)("opens a group; the host refreshes %s", async (refresh) => {
    const { host, calls } = groupServer(refresh, true);
    await run(host, review);
    expect(calls.slice(0, 2)).toEqual([
      { name: "show_categories", args: {} },
      { name: "load_category", args: { category: "books" } },
    ]);
    const last = calls.at(-1);
    expect(last).toEqual(
      refresh === "at_once" ? { name: "add_book_review", args } : { name: "run_tool", args: { tool: "add_book_review", params: args } },
    );
  });

  it("gives up where what was opened is never listed and nothing runs it", async () => {
    const { host, calls, answers } = groupServer("never");
    await run(host, review);
    expect(calls.filter(({ name }) => name === "add_book_review")).toEqual([]);
    expect(answers).toHaveLength(1);
  });

  it("asks only once for what is not shown", async () => {
    const { host } = dispatcherServer();
    const { host: deaf, calls } = fakeHost(
      () => host.tools,
      (name) => seen(name === "show_action" ? "not known" : "done", name === "show_action"),
    );
    await run(deaf, review);
    const shown = calls.filter(({ name }) => name === "show_action").map(({ args: { action } }) => action);
    expect(shown.length).toBe(new Set(shown).size);
  });

  it("dispatches", async () => {
    const { host, calls } = dispatcherServer();
    await run(host, review);
    expect(calls).toEqual([
      { name: "show_action", args: { action: "add_book_review" } },
      { name: "books", args: { action: "add_book_review", params: args } },
    ]);
  });

  it("looks up what is only described, and agrees where a server asks for it", async () => {
    const { host, calls } = plainServer();
    await run(host, "Delete the book Songs of Rain.");
    expect(calls).toEqual([
      { name: "list_books", args: {} },
      { name: "delete_book", args: { book_id: 12 } },
      { name: "delete_book", args: { book_id: 12, confirm: true } },
    ]);
  });

  it("does not change anything for a question, and answers with what it read", async () => {
    const { host, calls, answers } = plainServer();
    await run(host, "How many copies of book 12 are left?");
    expect(calls).toEqual([{ name: "get_book", args: { book_id: 12 } }]);
    expect(answers[0]?.text).toContain("left: 0");
  });

  it("does one thing after the other", async () => {
    const { host, calls } = plainServer();
    await run(host, `Show me book 7. Then write a review of it: "Good." Leave the other books alone.`);
    expect(calls.map(({ name }) => name)).toEqual(["get_book", "add_book_review"]);
    expect(calls[1]?.args).toEqual({ book_id: 7, body: "Good." });
  });
});

describe("bounds", () => {
  it("takes no more calls than it may and still answers", async () => {
    const { host, calls, answers } = searchServer();
    await run(host, 'Write a review of book 7: "x"', { maxCalls: 2 });
    expect(calls).toHaveLength(2);
    expect(answers).toHaveLength(1);
  });

  it("tries once more after an error, not twice", async () => {
    const { host, calls } = fakeHost(
      () => BOOK_TOOLS,
      () => seen("body is missing; confirm: true is wanted", true),
    );
    await run(host, "Delete book 7.");
    expect(calls).toHaveLength(2);
  });

  it("stops with the signal", async () => {
    const { host, calls } = plainServer();
    await expect(run(host, "Show book 7.", { signal: AbortSignal.abort(new Error("given up")) })).rejects.toThrow("given up");
    expect(calls).toEqual([]);
  });

  it("does the same with the same seed; another seed decides ties and nothing else", async () => {
    const twins = ["alpha_list", "beta_list"].map((name) => tool(name, "Lists pears.", {}, [], true));
    const first = async (tools: readonly ListedTool[], prompt: string, seed: number) => {
      const { host, calls } = fakeHost(() => tools, book);
      await run(host, prompt, { seed });
      return calls[0]?.name;
    };
    const seeds = Array.from({ length: 12 }, (_none, seed) => seed);
    const once = await Promise.all(seeds.map((seed) => first(twins, "Show the pears.", seed)));
    expect(await Promise.all(seeds.map((seed) => first(twins, "Show the pears.", seed)))).toEqual(once);
    expect(new Set(once).size).toBe(2);
    expect(new Set(await Promise.all(seeds.map((seed) => first(BOOK_TOOLS, "Show book 7.", seed)))).size).toBe(1);
    expect(Math.max(...seeds.map((seed) => tieBreak(seed, "x")))).toBeLessThan(1e-8);
  });
});

describe("reading", () => {
  it("takes a prompt apart", () => {
    const kinds = (prompt: string) => intentsOf(prompt).map(({ kind, core }) => [kind, core.replace(/\s+/g, " ").trim()]);
    expect(kinds("Please close issue 7 and tell me who opened it. Do not touch the others.")).toEqual([
      ["change", "Please close issue 7"],
      ["read", "tell me who opened it."],
    ]);
    expect(kinds("The shop is slow. Which jobs failed last night?")).toEqual([["read", "Which jobs failed last night?"]]);
    expect(kinds('Add a label "a. b". It gets the colour red.')).toEqual([["change", "Add a label ."]]);
    expect(kinds("In acme/shop, delete the branch x/y, then open an issue.")).toEqual([
      ["remove", "In acme/shop, delete the branch x/y"],
      ["change", "open an issue."],
    ]);
    expect(kinds("Nothing to see here")).toHaveLength(1);
  });

  it("finds values by their form", () => {
    const forms = mentionsOf(
      'On acme/shop, !42 and #7: set src/a/b.ts from main on branch fix/x by 2026-12-24, from 3 March to 4 April 2027, v1.2.3, for @jo, "a quoted text", two days, MY_KEY, https://a.example/x.',
    ).map(({ kind, value, marker }) => [kind, value, ...(marker ? [marker] : [])]);
    expect(forms).toEqual([
      ["path", "acme/shop"],
      ["number", 42, "!"],
      ["number", 7, "#"],
      ["file", "src/a/b.ts"],
      ["ref", "main"],
      ["ref", "fix/x"],
      ["date", "2026-12-24"],
      ["date", "2027-03-03"],
      ["date", "2027-04-04"],
      ["version", "v1.2.3"],
      ["user", "jo"],
      ["quoted", "a quoted text"],
      ["number", 2],
      ["word", "MY_KEY"],
      ["url", "https://a.example/x"],
    ]);
  });

  it("brings the forms of a word together", () => {
    const families = [
      "release releases released",
      "close closed closing",
      "label labels labelled",
      "approve approval approving",
      "retry retries retried",
      "branch branches",
    ];
    for (const family of families) expect(new Set(family.split(" ").map(stem)).size).toBe(1);
    expect(new Set(["status", "access", "policy", "merge"].map(stem)).size).toBe(4);
  });

  it("ranks what has the rarer words first", () => {
    const texts = ["list issues", "close an issue", "list pipelines"].map((text) => [[text, 1]] as const);
    const [one, two, three] = rank(toQuery("close issue 7"), texts);
    expect(two).toBeGreaterThan(one ?? 0);
    expect(one).toBeGreaterThan(three ?? 0);
  });

  it("reads rows from JSON, from signatures and from lists", () => {
    const row = { name: "do_it", description: "Does it.", input_schema: { properties: { a: { type: "integer" } }, required: ["a"] } };
    const shown = [{ names: ["do_it"], about: "Does it.", params: [{ name: "a", type: "integer", required: true }] }];
    expect(rowsOf(JSON.stringify({ results: [row] }))).toMatchObject(shown);
    const params = [
      { name: "a", type: "integer", required: true },
      { name: "b", required: false, values: ["x", "y"] },
    ];
    expect(rowsOf("Found:\ndo_it(a: integer, b?: x|y|…, …) – read. Does it.\nThat is all.")).toMatchObject([
      { names: ["do_it"], effect: "read", params },
    ]);
    expect(rowsOf("books: enabled, 1 tool\n  do_it: book.do(a: integer, b?: x|y)")).toMatchObject([
      { names: ["do_it", "book.do"], params },
    ]);
    expect(rowsOf("- **do_it**: Does it.\n\nThat is all.")).toMatchObject([{ names: ["do_it"], about: ": Does it." }]);
    expect(rowsOf("books – Novels (3 read)\nbills (2 read, 1 write)").map(({ names }) => names[0])).toEqual(["books", "bills"]);
  });

  it("reads objects from tables and fields of a text", () => {
    expect(recordsOf("total: 2\nid | title | open\n7 | A | true\n12 |  | false\n\nnext: page 2")).toEqual([
      { id: 7, title: "A", open: true },
      { id: 12, title: undefined, open: false },
      { total: 2, next: "page 2" },
    ]);
    expect(recordsOf("Nothing | here at all")).toEqual([]);
  });

  it("answers with an extract that is never too long", () => {
    const lines = Array.from({ length: 200 }, (_none, index) => `row ${index}: nothing of interest here`);
    const text = toAnswer("Who owns the zebra?", [seen([...lines, "the zebra belongs to jo"].join("\n"))]);
    expect(text).toContain("the zebra belongs to jo");
    expect(text.length).toBeLessThanOrEqual(1_500);
  });
});

describe("on the bridge itself", () => {
  let sandbox: Sandbox | undefined;
  let close: (() => Promise<void>) | undefined;
  afterEach(async () => {
    await close?.();
    await sandbox?.close();
  });

  /** A host that asks for the list again after every call. */
  async function openStyle(style: string) {
    sandbox = await startSandbox();
    const settings = { ...settingsFor(`--style=${style}`, "--settle=1"), url: sandbox.url, token: sandbox.tokens.maria };
    const bridge = createBridge({ settings: settings as never, log: createLog({ level: "silent" }), version: "0.0.0", cwd: "/" });
    const connection = bridge.connect();
    const server = bridge.createServer(connection, { era: "legacy", transport: "stdio", canTell: () => true });
    const client = new Client({ name: "ab-test", version: "1" });
    const [one, other] = InMemoryTransport.createLinkedPair();
    await server.connect(other as never);
    await client.connect(one);
    close = async () => {
      await client.close();
      connection.close?.();
    };
    const list = async () => (await client.listTools(undefined, { cacheMode: "refresh" })).tools as unknown as ListedTool[];
    let tools = await list();
    const called: string[] = [];
    const host: Host = {
      get tools() {
        return tools;
      },
      async call(name, args) {
        called.push(name);
        const result = await client.callTool({ name, arguments: { ...args } });
        tools = await list();
        const text = ((result.content ?? []) as { text?: string }[]).map((block) => block.text ?? "").join("\n");
        return { isError: result.isError === true, text, json: result.structuredContent as Json };
      },
      answer: () => {},
    };
    return { host, called, tools: () => tools };
  }

  it.each(STYLE_ARMS)("comments on an issue in the style %s", async (style) => {
    const { host, called } = await openStyle(style);
    await run(host, 'Leave a comment on issue 24 in acme/webshop: "The load test runs again."');
    const path = `${sandbox?.url}/api/v4/projects/acme%2Fwebshop/issues/24/notes?activity_filter=only_comments`;
    const notes = (await (await fetch(path, { headers: { "PRIVATE-TOKEN": sandbox?.tokens.maria ?? "" } })).json()) as { body: string }[];
    expect({ called, comments: notes.filter(({ body }) => body === "The load test runs again.").length }).toMatchObject({ comments: 1 });
  });
});
