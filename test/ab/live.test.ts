import { mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, afterEach, beforeAll, describe, expect, it, vi } from "vitest";
import { liveReport } from "../../src/ab/live.ts";
import { toLiveReport } from "../../src/ab/live-model.ts";
import { createBridge } from "../../src/app.ts";
import { abReport } from "../../src/cli/ab-report.ts";
import { openBridge } from "../../src/cli/open-bridge.ts";
import { toHttpSettings } from "../../src/config/http-check.ts";
import { loadSettings } from "../../src/config/load.ts";
import { createLog } from "../../src/log.ts";
import { drawStyle } from "../../src/surface/trial.ts";
import { isComplete, type TrialLine } from "../../src/surface/trial-line.ts";
import { type HttpServer, serveOverHttp } from "../../src/transport/http.ts";
import { type Crowd, call, handshake, markOf, modern, namesOf, post, startCrowd, tokenOf } from "../support/http.ts";

const SALT = "a-salt-for-the-tests";
const SHARES = [
  { style: "bridge", weight: 50 },
  { style: "dynamic", weight: 30 },
  { style: "static", weight: 20 },
] as const;
const AB = "--ab=style:bridge=50,dynamic=30,static=20";

describe("the draw", () => {
  const draw = (count: number, key = SALT, shares: Parameters<typeof drawStyle>[0] = SHARES) =>
    Array.from({ length: count }, (_, user) => drawStyle(shares, key, `https://gitlab.example.com\n${user}`));

  it("is by weight, and always the same: these very users", () => {
    const styles = draw(10_000);
    const count = (style: string) => styles.filter((one) => one === style).length;
    expect({ bridge: count("bridge"), dynamic: count("dynamic"), static: count("static") }).toEqual({
      bridge: 5030,
      dynamic: 3037,
      static: 1933,
    });
    expect(styles).toEqual(draw(10_000));
  });
  it("another key draws others; the instance counts too", () => {
    const elsewhere = Array.from({ length: 1_000 }, (_, user) => drawStyle(SHARES, SALT, `https://gitlab.example.org\n${user}`));
    for (const others of [draw(1_000, "another-salt-for-tests"), elsewhere])
      expect(draw(1_000).filter((style, user) => style !== others[user]).length).toBeGreaterThan(500);
  });
  it("a weight of 0 gets nobody", () => {
    const none = [
      { style: "meta", weight: 0 },
      { style: "bridge", weight: 1 },
      { style: "static", weight: 0 },
    ] as const;
    expect(new Set(draw(500, SALT, none))).toEqual(new Set(["bridge"]));
  });
  it("a change of weights moves no more users than it must", () => {
    const before = draw(10_000);
    const after = draw(10_000, SALT, [
      { style: "bridge", weight: 60 },
      { style: "dynamic", weight: 20 },
      { style: "static", weight: 20 },
    ]);
    const moved = before.flatMap((style, user) => (style === after[user] ? [] : [`${style} → ${after[user]}`]));
    expect(new Set(moved)).toEqual(new Set(["dynamic → bridge"]));
    expect(moved.length / 10_000).toBeCloseTo(0.1, 1);
  });
});

const FIRST: Readonly<Record<string, string>> = { bridge: "list_available_toolsets", dynamic: "gitlab_find_action" };
/** The style that a list is of, by what the styles under test have in common with no other. */
function styleOf(names: readonly string[]): string {
  if (names.length > 10) return "static";
  return Object.entries(FIRST).find(([, name]) => names[0] === name)?.[0] ?? "none";
}

describe("over HTTP", () => {
  let crowd: Crowd;
  let home: string;
  let server: HttpServer | undefined;
  let file: string;
  let started = 0;
  beforeAll(async () => {
    crowd = await startCrowd();
    home = mkdtempSync(join(tmpdir(), "ab-live-"));
  });
  afterEach(async () => {
    await server?.stop();
    server = undefined;
  });
  afterAll(async () => {
    await crowd.close();
    rmSync(home, { recursive: true, force: true });
  });

  async function start(...flags: string[]): Promise<string> {
    await server?.stop();
    file = join(home, `ab-${started++}.jsonl`);
    const argv = ["--http", "--port=0", `--url=${crowd.url}`, AB, `--ab-log=${file}`, `--ab-salt=${SALT}`, ...flags];
    const loaded = loadSettings({ argv, env: {}, transport: "http" });
    const { settings } = toHttpSettings(loaded.settings);
    const log = createLog({ level: "silent" });
    const exit = (): never => {
      throw new Error("exit");
    };
    const host = { argv, env: {}, cwd: home, exit, home, node: "", script: "", colour: false };
    const bridge = await openBridge({ ...loaded, settings }, host, log);
    server = await serveOverHttp({ settings, bridge, log });
    return server.url;
  }
  const lines = () =>
    readFileSync(file, "utf8")
      .split("\n")
      .filter((line) => line !== "")
      .map((line) => JSON.parse(line) as TrialLine);
  const token = (user: number) => ({ "private-token": tokenOf(user) });
  const list = { jsonrpc: "2.0", id: 1, method: "tools/list" };

  async function connect(url: string, user: number) {
    const { session } = await handshake(url, token(user));
    const headers = { ...token(user), ...session };
    return {
      style: async () => styleOf(namesOf(await post(url, list, headers))),
      call: (name: string, args: Record<string, unknown> = {}) => post(url, call(name, args), headers),
      headers,
    };
  }
  const drawn = (user: number) => drawStyle(SHARES, SALT, `${crowd.url}\n${user}`);
  /** The first users of a style: the crowd has another address in each run, so that others get it. */
  const people = (style: string, count: number) =>
    Array.from({ length: 1_000 }, (_, index) => index + 1)
      .filter((user) => drawn(user) === style)
      .slice(0, count);
  const someone = (style: string) => people(style, 1)[0] ?? 0;

  it("each user gets the style that is theirs, in every session and after a restart", async () => {
    const users = SHARES.flatMap(({ style }) => people(style, 2));
    const expected = ["bridge", "bridge", "dynamic", "dynamic", "static", "static"];
    const url = await start();
    const stylesAt = async (place: string) => {
      const styles: string[] = [];
      for (const user of users) styles.push(await (await connect(place, user)).style());
      return styles;
    };
    expect(await stylesAt(url)).toEqual(expected);
    expect(await stylesAt(url)).toEqual(expected);
    const before = lines();
    expect(await stylesAt(await start())).toEqual(expected);
    const hashes = (of: readonly TrialLine[]) => new Set(of.map(({ user }) => user));
    expect(hashes(before).size).toBe(6);
    expect(hashes(lines())).toEqual(hashes(before));
  });

  it("a token that was renewed is the same user", async () => {
    const url = await start();
    const user = someone("static");
    const { session } = await handshake(url, { "private-token": tokenOf(user, 2) });
    expect(styleOf(namesOf(await post(url, list, { "private-token": tokenOf(user, 2), ...session })))).toBe("static");
  });

  it("users do not see each other's style or switches", async () => {
    const url = await start("--settle=0");
    const [one, other] = [await connect(url, someone("bridge")), await connect(url, someone("dynamic"))];
    expect([await one.style(), await other.style()]).toEqual(["bridge", "dynamic"]);
    await one.call("enable_toolset", { toolset: "ci" });
    expect(namesOf(await post(url, list, one.headers)).length).toBeGreaterThan(6);
    expect(await other.style()).toBe("dynamic");
    const byUser = new Map(lines().map(({ user, style }) => [user, style]));
    expect([...byUser.values()].sort()).toEqual(["bridge", "dynamic"]);
  });

  it("writes down what happened, and nothing of what was in it", async () => {
    const url = await start("--settle=0");
    const user = someone("bridge");
    const client = await connect(url, user);
    await client.style();
    await client.call("gitlab_find_action", { query: "a secret question" });
    await client.call("gitlab_execute_action", { action: "issue.list", params: { project_id: "a/b" } });
    await client.call("gitlab_execute_action", { action: "issue.lst", params: {} });
    await client.call("a_tool_that_is_not_there");
    const written = lines();
    expect(written.every(isComplete)).toBe(true);
    expect(written.map(({ kind, tool, discovery, end, code }) => ({ kind, tool, discovery, end, code }))).toEqual([
      { kind: "assignment" },
      { kind: "list" },
      { kind: "call", tool: "gitlab_find_action", discovery: true, end: "ok" },
      { kind: "call", tool: "gitlab_execute_action", discovery: false, end: "ok" },
      { kind: "call", tool: "gitlab_execute_action", discovery: false, end: "error", code: "unknown_action" },
      { kind: "call", tool: "other", discovery: false, end: "error", code: "other" },
    ]);
    expect(written[0]).toMatchObject({
      style: "bridge",
      transport: "http",
      era: "legacy",
      tools: 5,
      shares: AB.slice("--ab=".length),
      client: "bare",
    });
    expect(written[0]!.tokens).toBeGreaterThan(300);
    expect(new Set(written.map(({ session }) => session)).size).toBe(1);
    const text = readFileSync(file, "utf8");
    for (const content of [tokenOf(user), markOf(user), `user-${user}`, "secret question", "a/b", "issue.lst", "not_there", SALT])
      expect(text).not.toContain(content);
    expect(statSync(file).mode & 0o777).toBe(0o600);
  });

  it("a probe makes no assignment", async () => {
    const url = await start();
    const user = someone("dynamic");
    await post(url, modern("server/discover").body, { ...modern("server/discover").headers, ...token(user) });
    await handshake(url, token(user));
    const listed = await post(url, modern("tools/list").body, { ...modern("tools/list").headers, ...token(user) });
    expect(styleOf(namesOf(listed))).toBe("dynamic");
    const anonymous = await post(url, modern("tools/list").body, modern("tools/list").headers);
    expect(styleOf(namesOf(anonymous))).toBe("bridge");
    const find = modern("tools/call", { name: "gitlab_find_action", arguments: { query: "issues" } });
    expect((await post(url, find.body, find.headers)).status).toBe(200);
    expect(lines()).toEqual([]);
  });

  it("a user whose requests stand alone is assigned by the first call, once", async () => {
    const url = await start();
    const user = someone("dynamic");
    const find = modern("tools/call", { name: "gitlab_find_action", arguments: { query: "issues" } });
    await post(url, find.body, { ...find.headers, ...token(user) });
    await post(url, find.body, { ...find.headers, ...token(user) });
    await post(url, modern("tools/list").body, { ...modern("tools/list").headers, ...token(user) });
    expect(lines().map(({ kind, era, session }) => [kind, era, session])).toEqual([
      ["assignment", "modern", undefined],
      ["call", "modern", undefined],
      ["call", "modern", undefined],
      ["list", "modern", undefined],
    ]);
    expect(lines()[0]!.tokens).toBe(lines()[3]!.tokens);
  });

  it("who chooses a style has it, and is left out", async () => {
    const url = await start();
    const user = someone("dynamic");
    const { session } = await handshake(`${url}?style=static`, token(user));
    const headers = { ...token(user), ...session };
    expect(styleOf(namesOf(await post(url, list, headers)))).toBe("static");
    await post(url, call("gitlab_find_action", { query: "issues" }), headers);
    expect(lines()).toEqual([
      expect.objectContaining({ kind: "excluded", reason: "own_style", style: "static", user: expect.any(String) }),
    ]);
  });

  it("who is not known keeps the default style, and is left out", async () => {
    const url = await start();
    const { session } = await handshake(url);
    expect(styleOf(namesOf(await post(url, list, session)))).toBe("bridge");
    expect(lines()).toEqual([expect.objectContaining({ kind: "excluded", reason: "no_user", style: "bridge" })]);
    expect(lines()[0]).not.toHaveProperty("user");
  });

  it("a list is answered though GitLab refuses the token", async () => {
    const url = await start();
    const revoked = tokenOf(someone("static"), 9);
    crowd.revoked.add(revoked);
    const listed = await post(url, modern("tools/list").body, { ...modern("tools/list").headers, "private-token": revoked });
    expect(styleOf(namesOf(listed))).toBe("bridge");
  });

  it("a session that outlives a restart keeps its style", async () => {
    const key = `--session-key=${"s".repeat(40)}`;
    const user = someone("static");
    const { headers } = await connect(await start(key), user);
    const url = await start(key);
    expect(styleOf(namesOf(await post(url, list, headers)))).toBe("static");
  });

  it("gives styles without a log too, also where the bridge is a library", async () => {
    const { settings } = loadSettings({ argv: [AB, `--ab-salt=${SALT}`, `--url=${crowd.url}`], env: {}, transport: "stdio" });
    const bridge = createBridge({ settings, log: createLog({ level: "silent" }), version: "0.0.0", cwd: home });
    for (const { style } of SHARES) {
      const connection = bridge.connect({ user: someone(style) });
      expect([connection.settings.style, connection.trial]).toEqual([style, undefined]);
    }
    expect(bridge.connect().settings.style).toBe("bridge");
  });

  it("does not start where its file cannot be written", async () => {
    await expect(start(`--ab-log=${join(home, "no", "such", "folder")}`)).rejects.toThrow(/given twice/);
    const argv = ["--http", AB, "--auth=caller", "--ab-log=/no/such/folder/ab.jsonl"];
    const loaded = loadSettings({ argv, env: {}, transport: "http" });
    const host = { argv, env: {}, cwd: "/", exit: () => undefined as never, home, node: "", script: "", colour: false };
    await expect(openBridge(loaded, host, createLog({ level: "silent" }))).rejects.toThrow(/--ab-log: .* cannot be written \(ENOENT\)/);
  });
});

describe("the summary", () => {
  const at = (over: Partial<TrialLine>): TrialLine =>
    ({
      time: "2026-01-01T00:00:00.000Z",
      style: "bridge",
      transport: "stdio",
      era: "legacy",
      user: "u",
      session: "s",
      ...over,
    }) as TrialLine;
  const shares = "style:bridge=50,dynamic=50";
  const user = (name: string, style: TrialLine["style"], calls: readonly Partial<TrialLine>[]) => [
    at({ kind: "assignment", user: name, style, shares, tools: 5, tokens: style === "bridge" ? 900 : 400 }),
    at({ kind: "list", user: name, style, tools: 5, tokens: style === "bridge" ? 900 : 400 }),
    ...calls.map((one) => at({ kind: "call", user: name, style, tool: "x", discovery: false, end: "ok", tokens: 100, ms: 10, ...one })),
  ];
  const LINES = [
    ...user("a", "bridge", [{ discovery: true }, {}, { end: "error", code: "not_found", tokens: 40 }]),
    ...user("b", "bridge", [{}]),
    ...user("c", "dynamic", [{ discovery: true, tokens: 500 }, { ms: 30 }]),
    at({ kind: "excluded", reason: "own_style", style: "static" }),
    at({ kind: "excluded", reason: "no_user", time: "2026-01-02T00:00:00.000Z" }),
  ];
  const home = mkdtempSync(join(tmpdir(), "ab-summary-"));
  afterAll(() => rmSync(home, { recursive: true, force: true }));
  const write = (name: string, text: string) => {
    writeFileSync(join(home, name), text);
    return join(home, name);
  };
  const text = (rows: readonly TrialLine[]) => rows.map((line) => `${JSON.stringify(line)}\n`).join("");

  it("counts users, sessions, calls and errors by style", () => {
    const { arms, excluded, from, to, base } = toLiveReport(LINES, ["f"], 0, { rounds: 100 });
    expect({ excluded, from, to, base }).toEqual({
      excluded: { own_style: 1, no_user: 1 },
      from: "2026-01-01T00:00:00.000Z",
      to: "2026-01-02T00:00:00.000Z",
      base: "bridge",
    });
    expect(arms).toMatchObject([
      { style: "bridge", users: 2, expected: 1.5, assignments: 2, lists: 2, calls: 4, discovery_calls: 1, errors: 1 },
      { style: "dynamic", users: 1, expected: 1.5, assignments: 1, lists: 1, calls: 2, discovery_calls: 1, errors: 0 },
    ]);
    const values = Object.fromEntries(Object.entries(arms[0]!.measures).map(([name, { value }]) => [name, value]));
    expect(values).toEqual({
      first_list: 900,
      session_calls: 2,
      discovery_share: 0.25,
      error_share: 0.25,
      result_tokens: 85,
      session_tokens: 1_070,
      call_ms: 10,
    });
    expect(arms[1]!.differences!.first_list).toEqual({ value: -500, low: -500, high: -500 });
    expect(arms[0]).not.toHaveProperty("differences");
  });

  it("tells of users who changed their style", () => {
    expect(toLiveReport([...LINES, ...user("a", "dynamic", [])], ["f"], 0, { rounds: 20 }).moved).toBe(1);
  });

  it("reads several files, each with a torn end, and writes both forms", () => {
    const one = write("one.jsonl", `${text(LINES.slice(0, 5))}{"time":"20`);
    const two = write("two.jsonl", text(LINES.slice(5)));
    const made = liveReport([one, two], { out: join(home, "out"), rounds: 100 });
    expect(made).toMatchObject({ torn: 1, lines: LINES.length });
    expect(JSON.parse(readFileSync(join(home, "out/live.json"), "utf8"))).toEqual(JSON.parse(JSON.stringify(made)));
    const page = readFileSync(join(home, "out/live.md"), "utf8");
    for (const part of [
      "# Styles compared live",
      "1 chose a style",
      "## Each style less bridge",
      "| Calls that fail | 25 %",
      "1 torn lines",
    ])
      expect(page).toContain(part);
  });

  it("is printed by ab report --live", () => {
    const printed: string[] = [];
    const spy = vi.spyOn(console, "log").mockImplementation((line: string) => void printed.push(line));
    const host = { argv: [], env: {}, cwd: home, exit: () => undefined as never, home, node: "", script: "", colour: false };
    write("cli.jsonl", text(LINES));
    abReport(["--live", "cli.jsonl", "--base", "dynamic"], host);
    spy.mockRestore();
    expect(printed.join("\n")).toContain("## Each style less dynamic");
    expect(() => abReport(["--live"], host)).toThrow(/ab report --live FILE/);
    expect(() => abReport(["--live", "cli.jsonl", "--bas=x"], host)).toThrow(/nearest is --base/);
  });

  it("is a page too, which loads nothing and shows what others wrote as text", () => {
    const lines = LINES.map((line) => ({ ...line, ...(line.shares ? { shares: `${shares},<img src=x>=0` } : {}) }));
    liveReport([write("page.jsonl", text(lines))], { out: join(home, "page"), rounds: 50 });
    const html = readFileSync(join(home, "page/live.html"), "utf8");
    expect(html).toContain("default-src 'none'");
    expect(html).toContain("&lt;img src=x&gt;");
    expect(html).not.toMatch(/<img|<script/);
  });

  it("of clients that are all left out says so", () => {
    const page = join(home, "none");
    liveReport([write("none.jsonl", text(LINES.slice(-2)))], { out: page });
    expect(readFileSync(join(page, "live.md"), "utf8")).toContain("Nobody was assigned a style.");
  });

  it("refuses what is not such a line, and a base that nobody has", () => {
    const [assignment] = LINES;
    const { tokens: _tokens, ...lacking } = assignment!;
    for (const bad of [lacking, { ...assignment, secret: 1 }, { ...assignment, style: "best" }, [], 7])
      expect(() => liveReport([write("bad.jsonl", `${JSON.stringify(bad)}\n`)])).toThrow(/bad\.jsonl, line 1, is not a line/);
    expect(() => liveReport([])).toThrow(/No file/);
    expect(() => toLiveReport(LINES, [], 0, { base: "dynamc" })).toThrow(expect.objectContaining({ hint: "The nearest is dynamic." }));
  });
});
