import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import { type Sandbox, startSandbox } from "../../src/sandbox/server.ts";
import { type Chain, type ChainClient, openChain, type Reply } from "./chain.ts";
import { type HttpFixture, startHttpFixture } from "./http-fixture.ts";

/** Stands in everything that is of another project, and nowhere else. */
const MARK = "ZQXFOREIGN";
const OURS = "of ours";

let sandbox: Sandbox;
let server: HttpFixture;
let chain: Chain;
let client: ChainClient;
beforeAll(async () => {
  sandbox = await startSandbox();
  server = await startHttpFixture("gitlab");
  const entry = { url: server.url, headers: { Authorization: "Bearer oauth-1234567890" } };
  const flags = ["--allow-projects=acme/webshop", "--confirm=off", "--max-writes-per-minute=10000", `--token=${sandbox.tokens.root}`];
  chain = openChain({ gitlab_mcp: entry }, flags, { url: sandbox.url });
  client = await chain.connect({ person: () => "accept" });
  await client.call("list_available_toolsets");
});
afterAll(async () => {
  await chain.close();
  await server.kill();
  await sandbox.close();
});
afterEach(() => server.answer({}));

const fill = <T>(value: T): T => JSON.parse(JSON.stringify(value).replaceAll("INSTANCE", sandbox.url)) as T;

/** Calls that cannot do without their project, and one that could be answered from anywhere. */
const BOUND = ["get_merge_request", { project_id: "acme/webshop", merge_request_iid: 42 }] as const;
const OPEN = ["search", { scope: "issues", search: "x", project_id: "acme/webshop" }] as const;

async function ask([tool, params]: readonly [string, Record<string, unknown>], result: Record<string, unknown>): Promise<Reply> {
  await server.answer({ tools: { [tool]: { result: fill(result) } } });
  return await client.run(`gitlab_mcp.${tool}`, params);
}

const asText = (value: unknown) => ({ content: [{ type: "text", text: typeof value === "string" ? value : JSON.stringify(value) }] });
const asBoth = (value: Record<string, unknown>) => ({ ...asText(value), structuredContent: value });
const whole = (reply: Reply) => JSON.stringify([reply.content, reply.json, reply.meta ?? null]);

const FOREIGN: readonly Record<string, unknown>[] = [
  { project_id: 102 },
  { project_id: "102" },
  { projectId: 102 },
  { project_id: "acme/mobile-app" },
  { project: "acme/mobile-app" },
  { projectPath: "acme/mobile-app" },
  { project: { id: 102, name: "App" } },
  { project: { id: "gid://gitlab/Project/102" } },
  { project: { fullPath: "acme/mobile-app" } },
  { path_with_namespace: "acme/mobile-app" },
  { pathWithNamespace: "acme%2Fmobile-app" },
  { fullPath: "acme/mobile-app" },
  { namespace: { fullPath: "acme/mobile-app" } },
  { namespace: "acme/mobile-app" },
  { namespace: "zoo" },
  { namespace: { full_path: "zoo" } },
  { namespace: { id: 12 } },
  { references: { full: "acme/mobile-app#5" } },
  { reference: "acme/mobile-app!5" },
  { web_url: "INSTANCE/acme/mobile-app/-/issues/5" },
  { webUrl: "INSTANCE/acme/mobile-app" },
  { webPath: "/acme/mobile-app/-/issues/5" },
  { url: "INSTANCE/api/v4/projects/102/issues/5" },
  { web_url: "INSTANCE/acme/webshop/../mobile-app/-/issues/5" },
  { web_url: "https://gitlab.elsewhere.example/acme/webshop/-/issues/5" },
  { _links: { self: "INSTANCE/api/v4/projects/102/issues/5" } },
  { id: "gid://gitlab/Project/102" },
  { project_id: 102, projectId: 101 },
  { projectId: 101, "Project-ID": 102 },
  { project: { id: 101, full_path: "acme/mobile-app" } },
  { _links: { self: "INSTANCE/api/v4/projects/101/issues/5", project: "INSTANCE/api/v4/projects/102" } },
  { project_id: 101, web_url: "INSTANCE/acme/mobile-app/-/issues/5" },
  { group_id: 12 },
  { group: { full_path: "zoo" } },
  { project_id: 99_999 },
  { full_path: "maria" },
];
const INSIDE: readonly Record<string, unknown>[] = [
  { project_id: 101 },
  { project_id: "101", web_url: "INSTANCE/acme/webshop/-/issues/5" },
  { projectPath: "Acme/WebShop", namespace: { full_path: "acme" } },
  { project: { id: "gid://gitlab/Project/101" } },
  { references: { full: "acme/webshop#5" }, milestone: { group_id: 10 } },
  { webPath: "/acme/webshop/-/issues/5" },
  { path_with_namespace: "acme/webshop", namespace: { id: 10, full_path: "acme" } },
];

describe("things in another server's answer", () => {
  it.each(FOREIGN)("%j is left out of a list, of a nested one, as a part, and as the whole; totals go with it", async (place) => {
    const foreign = { title: MARK, ...place };
    const ours = { title: OURS, project_id: 101 };
    for (const call of [BOUND, OPEN]) {
      for (const value of [
        { items: [ours, foreign], total: 271, totalCount: 271 },
        { data: { issues: { nodes: [foreign, ours], count: 271 } } },
        { ...ours, linked: [foreign] },
        { ...ours, parent: foreign },
        { result: JSON.stringify([ours, foreign]) },
      ]) {
        const reply = await ask(call, asBoth(value));
        expect(whole(reply)).not.toMatch(new RegExp(`${MARK}|271`));
        expect(reply.text).toContain(OURS);
        expect(JSON.stringify(reply.json)).toContain(OURS);
        expect(reply.text).toContain("left out");
        expect(reply.json.filtered).toContain("left out");
      }
      const only = await ask(call, asBoth(foreign));
      expect(whole(only)).not.toContain(MARK);
      expect(only.text).toContain("withheld");
      const rows = await ask(call, asText([foreign, ours]));
      expect(whole(rows)).not.toContain(MARK);
      expect(rows.text).toContain(OURS);
    }
  });

  it.each(INSIDE)("%j stays as it is, with nothing said", async (place) => {
    const value = fill({ items: [{ title: `${OURS}, see acme/mobile-app#1`, ...place }], total: 1 });
    for (const call of [BOUND, OPEN]) {
      const reply = await ask(call, asBoth(value));
      expect(reply.json).toMatchObject(value);
      expect(reply.json).not.toHaveProperty("filtered");
      expect(reply.text).not.toContain("left out");
    }
  });

  it("rows that tell no place stay only where the call means nothing without its project", async () => {
    const value = { items: [{ title: MARK, iid: 5 }, MARK], cursor: "abc123", state: "done" };
    expect((await ask(BOUND, asBoth(value))).json).toMatchObject(value);
    const reply = await ask(OPEN, asBoth(value));
    expect(whole(reply)).not.toContain(MARK);
    expect(reply.json).toMatchObject({ items: [], cursor: "abc123", state: "done", filtered: expect.any(String) });
  });
});

describe("with --allow-groups", () => {
  it("what is below the group stays, what stands above it stays only as a part, the rest is left out", async () => {
    const entry = { url: server.url, headers: { Authorization: "Bearer oauth-1234567890" } };
    const flags = ["--allow-groups=acme/platform", "--confirm=off", `--token=${sandbox.tokens.root}`];
    const grouped = openChain({ gitlab_mcp: entry }, flags, { url: sandbox.url });
    const other = await grouped.connect();
    await other.call("list_available_toolsets");
    const below = [
      { project_id: 103 },
      { group_id: 11 },
      { fullPath: "acme/platform" },
      { webUrl: `${sandbox.url}/groups/acme/platform/-/epics/1` },
    ];
    const outside = [{ project_id: 101 }, { fullPath: "acme/platform-too" }, { group_id: 12 }, { namespace: { full_path: "zoo" } }];
    const items = [
      ...below.map((place) => ({ title: OURS, ...place, milestone: { title: "above", group_id: 10 } })),
      ...outside.map((place) => ({ title: MARK, ...place })),
    ];
    for (const [tool, params] of [
      ["search", { scope: "issues", search: "x", group_id: "acme/platform" }],
      ["get_merge_request", { project_id: 103, merge_request_iid: 1 }],
    ] as const) {
      await server.answer({ tools: { [tool]: { result: asBoth({ items }) } } });
      const reply = await other.run(`gitlab_mcp.${tool}`, params);
      expect(reply.json.items).toMatchObject(below.map((place) => ({ title: OURS, ...place, milestone: { title: "above" } })));
      expect(whole(reply)).not.toContain(MARK);
    }
    await grouped.close();
  });
});

describe("a large answer", () => {
  it("asks GitLab once for each place, and not for thousands of them: what was not asked for is left out", async () => {
    const count = async (items: unknown[]) => {
      const before = sandbox.requests.length;
      const reply = await ask(BOUND, { content: [], structuredContent: { items } });
      expect(whole(reply)).not.toContain(MARK);
      expect(whole(reply)).toContain(OURS);
      return sandbox.requests.length - before;
    };
    const many = (place: (at: number) => unknown) => Array.from({ length: 2_000 }, (_one, at) => ({ title: MARK, project_id: place(at) }));
    const ours = { title: OURS, project_id: 101 };
    expect(await count([ours, ...many(() => 99_999)])).toBeLessThan(5);
    expect(await count([ours, ...many((at) => 100_000 + at)])).toBeLessThan(305);
    expect(await count([ours, { title: MARK, project: `a/${"b".repeat(5_000)}` }])).toBeLessThan(5);
  });

  it("is read as far as it can be: what is nested without end counts as text", async () => {
    const deep = `${'[{"a":'.repeat(20_000)}"${MARK} x"${"}]".repeat(20_000)}`;
    expect(whole(await ask(OPEN, asText(deep)))).not.toContain(MARK);
    const wide = `${'[{"a":'.repeat(300)}"${MARK} acme/mobile-app#5"${"}]".repeat(300)}`;
    expect(whole(await ask(BOUND, asText(wide)))).not.toContain(MARK);
  });
});

describe("texts in another server's answer", () => {
  it.each([
    `Project: acme/mobile-app\nTitle: ${MARK}`,
    `**Project ID**: 102 ${MARK}`,
    `Found one:\n{"projectId": 102, "title": "${MARK}"}`,
    `{"project_id": 102, "title": "${MARK}"}\n{"project_id": 101, "title": "x"}`,
    `repository = "acme%2Fmobile-app" ${MARK}`,
    `group: zoo/animals ${MARK}`,
    `## acme/mobile-app#5 ${MARK}\n${MARK}`,
    `- [${MARK}](INSTANCE/acme/mobile-app/-/issues/5)`,
    `/acme/mobile-app!5 ${MARK}`,
    `-acme/mobile-app#5 ${MARK}`,
    `mobile-app#5 ${MARK}`,
    `HTTP://${"INSTANCE".toLowerCase()} ${MARK} acme/mobile-app@a1b2c3d4`,
    `${Array.from({ length: 40 }, (_one, at) => `acme/webshop-${at}#1`).join(" ")} ${MARK}`,
  ])("%j leads outside: withheld whole, as text, in an object, and as an error", async (text) => {
    for (const result of [asText(text), asBoth({ result: text }), { ...asText(text), isError: true }]) {
      const reply = await ask(BOUND, result);
      expect(whole(reply)).not.toContain(MARK);
      expect(reply.text).toContain("withheld");
    }
  });

  it("words of a failure are told where they lead nowhere else, its code in any case", async () => {
    const fail = async ([tool, params]: typeof BOUND | typeof OPEN, failure: string) => {
      await server.answer({ tools: { [tool]: { failure } } });
      return await client.run(`gitlab_mcp.${tool}`, params);
    };
    for (const call of [BOUND, OPEN]) expect(whole(await fail(call, `No acme/mobile-app#5 ${MARK}`))).not.toContain(MARK);
    expect(whole(await fail(OPEN, `No ${OURS}`))).not.toContain(OURS);
    expect((await fail(BOUND, `No ${OURS}`)).text).toContain(OURS);
    expect((await fail(OPEN, "x")).json).toMatchObject({ code: "unprocessable" });
  });

  it("an argument that the tool does not know does not make its call bound", async () => {
    const [tool, params] = OPEN;
    for (const more of [{ iid: 1 }, { merge_request_iid: 1 }, { url: `${sandbox.url}/acme/webshop/-/issues/1` }])
      expect(whole(await ask([tool, { ...params, ...more }], asText(`${MARK} words`)))).not.toContain(MARK);
  });

  it.each([
    `${OURS}: project: acme/webshop, "project_id": 101, group: 10, project: none`,
    `${OURS}: diff --git a/x b/x\n+ C#3`,
    `${OURS}, acme/webshop#5 and INSTANCE/acme/webshop/-/issues/5`,
  ])("%j stays where the call is bound to its project, and is withheld where it could come from anywhere", async (text) => {
    const reply = await ask(BOUND, asText(text));
    expect(reply.text).toContain(OURS);
    expect(reply.text).not.toContain("withheld");
    for (const result of [asText(text), asBoth({ result: text }), { ...asText(text), isError: true }]) {
      const open = await ask(OPEN, result);
      expect(whole(open)).not.toContain(OURS);
      expect(open.text).toContain("withheld");
    }
  });

  it("bytes and pictures stay with calls that are bound; metadata and unknown parts are never passed on", async () => {
    const image = { content: [{ type: "image", data: "AAAA", mimeType: "image/png" }], _meta: { note: MARK }, extra: MARK };
    expect((await ask(BOUND, image)).content[0]).toMatchObject({ type: "image", data: "AAAA" });
    const open = await ask(OPEN, image);
    expect(JSON.stringify(open.content)).not.toContain("AAAA");
    for (const reply of [await ask(BOUND, image), open]) expect(whole(reply)).not.toContain(MARK);
  });

  it("an embedded resource is judged by its address and its text", async () => {
    const embedded = (uri: string, text: string) => ({ content: [{ type: "resource", resource: { uri, text } }] });
    for (const call of [BOUND, OPEN])
      expect(whole(await ask(call, embedded("INSTANCE/acme/mobile-app/-/raw/main/a", MARK)))).not.toContain(MARK);
    expect(whole(await ask(OPEN, embedded("file:///a", `${MARK} words`)))).not.toContain(MARK);
    expect(whole(await ask(OPEN, embedded("INSTANCE/acme/webshop/-/raw/main/a", `${OURS} words`)))).toContain(OURS);
  });
});

describe("what another server says beside its answer", () => {
  it("progress comes without words, and questions that lead outside are not asked", async () => {
    const said: unknown[] = [];
    await server.answer({ tools: { get_merge_request: { result: asText(OURS), progress: MARK } } });
    await client.run("gitlab_mcp.get_merge_request", BOUND[1], { onprogress: (progress: unknown) => said.push(progress) });
    expect(said).toEqual([{ progress: 1 }]);
    for (const [question, action] of [
      [`Close acme/mobile-app#5 ${MARK}?`, "cancel"],
      ["Close #5?", "accept"],
    ] as const) {
      await server.answer({ tools: { get_merge_request: { question } } });
      expect((await client.run("gitlab_mcp.get_merge_request", BOUND[1])).text).toContain(`"action":"${action}"`);
    }
  });

  it("links lead inside only, and what stands behind them is judged like an answer", async () => {
    const link = (uri: string) => ({ type: "resource_link", uri, name: MARK });
    const inside = `${sandbox.url}/acme/webshop/-/issues/5`;
    const others = [`${sandbox.url}/acme/mobile-app/-/issues/5`, "gitlab://projects/102/issues/5", "file:///a"];
    await server.answer({
      tools: { get_merge_request: { result: { content: [...others.map(link), { ...link(inside), name: OURS }] } } },
      resources: { [inside]: OURS, ...Object.fromEntries(others.map((uri) => [uri, `${MARK} words`])) },
    });
    const reply = await client.run("gitlab_mcp.get_merge_request", BOUND[1]);
    expect(whole(reply)).not.toContain(MARK);
    expect(reply.content.filter(({ type }) => type === "resource_link")).toMatchObject([{ uri: inside }]);
    // Even to someone who guesses the address of a link that was left out.
    for (const uri of others)
      expect(JSON.stringify(await client.client.readResource({ uri }).catch((error: unknown) => String(error)))).not.toContain(MARK);
    expect(await client.client.readResource({ uri: inside })).toMatchObject({ contents: [{ text: expect.stringContaining(OURS) }] });
    await server.answer({ resources: { [inside]: JSON.stringify({ items: [{ project_id: 102, title: MARK }] }) } });
    expect(JSON.stringify(await client.client.readResource({ uri: inside }))).not.toContain(MARK);
  });

  it("a part of a batch is judged like the call by itself", async () => {
    await server.answer({ tools: { get_merge_request: { result: asBoth({ items: [{ project_id: 102, title: MARK }] }) } } });
    const calls = [{ action: "gitlab_mcp.get_merge_request", params: BOUND[1] }];
    expect(whole(await client.run("batch.run", { calls }))).not.toContain(MARK);
  });
});
