import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { readChoice } from "../../src/transport/http-choice.ts";
import { Refused } from "../../src/transport/reply.ts";
import { handshake, modern, namesOf, post, type Started, startHttp } from "../support/http.ts";

type Headers_ = Readonly<Record<string, string>>;

const choose = (path: string, headers: Headers_ = {}) => {
  const url = new URL(`http://localhost${path}`);
  return readChoice(url.pathname, url.searchParams, new Headers(headers));
};

function refused(path: string, headers: Headers_ = {}) {
  try {
    choose(path, headers);
  } catch (error) {
    expect(error).toBeInstanceOf(Refused);
    return (error as Refused).refusal;
  }
  throw new Error("nothing was refused");
}

describe("what URL and headers say", () => {
  it("paths, queries and both families of headers", () => {
    expect(choose("")).toEqual({});
    expect(choose("/x/ci,merge_requests/readonly")).toEqual({ toolsets: ["ci", "merge_requests"], tools: [], readOnly: true });
    expect(choose("/readonly")).toEqual({ readOnly: true });
    expect(choose("/x/all")).toMatchObject({ toolsets: ["all"] });
    expect(choose("?toolsets=ci&tools=get_issue,issue.list&readonly=1&style=Dynamic&prefix=gl_&project=g/p")).toEqual({
      toolsets: ["ci"],
      tools: ["get_issue", "issue.list"],
      readOnly: true,
      style: "dynamic",
      prefix: "gl_",
      project: "g/p",
    });
    expect(choose("?read-only&safe-mode=true&exclude-tools=merge_*&default-project=a/b")).toEqual({
      readOnly: true,
      safeMode: true,
      excludeTools: ["merge_*"],
      project: "a/b",
    });
    const gitlab = {
      "X-Gitlab-Enabled-Mcp-Server-Toolsets": "CI, wikis",
      "X-Gitlab-Enabled-Mcp-Server-Tools": "get_issue",
      "X-Gitlab-Mcp-Server-Tool-Name-Prefix": "work_",
    };
    expect(choose("", gitlab)).toEqual({ toolsets: ["CI", "wikis"], tools: ["get_issue"], prefix: "work_" });
    const github = { "X-MCP-Toolsets": "ci", "X-MCP-Tools": "get_issue", "X-MCP-Exclude-Tools": "delete_branch", "X-MCP-Readonly": "true" };
    expect(choose("", github)).toEqual({ toolsets: ["ci"], tools: ["get_issue"], excludeTools: ["delete_branch"], readOnly: true });
  });

  it("lists from several places are joined; tools alone mean only those; what is on once stays on", () => {
    expect(choose("/x/ci?toolsets=wikis", { "X-MCP-Toolsets": "repository,CI" })).toMatchObject({
      toolsets: ["ci", "wikis", "repository"],
    });
    expect(choose("?tools=get_issue")).toEqual({ toolsets: [], tools: ["get_issue"] });
    expect(choose("?readonly=1", { "X-MCP-Readonly": "false" })).toEqual({ readOnly: true });
    expect(choose("?readonly=ci,wikis", { "X-MCP-Readonly": "repository" })).toEqual({ readOnly: ["ci", "wikis", "repository"] });
    expect(choose("?readonly=ci", { "X-MCP-Readonly": "true" })).toEqual({ readOnly: true });
    expect(choose("?readonly=ci", { "X-MCP-Readonly": "false" })).toEqual({ readOnly: ["ci"] });
    expect(choose("?readonly=false")).toEqual({ readOnly: false });
    expect(choose("?prefix=a_", { "X-Gitlab-Mcp-Server-Tool-Name-Prefix": "b_" })).toEqual({ prefix: "b_" });
  });

  it("anything that means nothing is 400 with what it was and what would be right", () => {
    const table: readonly (readonly [string, Headers_, string, string])[] = [
      ["?toolset=ci", {}, "toolset", "toolsets"],
      ["?style=dynamik", {}, "dynamik", "dynamic"],
      ["/readonli", {}, "readonli", "readonly"],
      ["?token=secret", {}, "token", "toolsets"],
      ["?split-execute=perhaps", {}, "perhaps", "true"],
    ];
    for (const [path, headers, unrecognized, valid] of table) {
      const { status, code, data } = refused(path, headers);
      expect([path, status, code, data?.unrecognized]).toEqual([path, 400, -32_602, [unrecognized]]);
      expect(data?.valid).toContain(valid);
    }
    expect(refused("?prefix=GitLab-")).toMatchObject({ status: 400, message: expect.stringContaining("a-z") });
    expect(refused(`?prefix=${"a".repeat(33)}`)).toMatchObject({ status: 400 });
  });
});

describe("what a client gets for its choice", () => {
  let server: Started;
  beforeAll(async () => {
    server = await startHttp(["--exclude-tools=delete_branch"], { GITLAB_URL: "http://127.0.0.1:9" });
  });
  afterAll(() => server.stop());

  const legacyList = async (path: string, headers: Headers_ = {}) => {
    const url = `${server.url}${path}`;
    const { answer, session } = await handshake(url, headers);
    if (answer.status !== 200) return answer;
    return await post(url, { jsonrpc: "2.0", id: 2, method: "tools/list" }, { ...headers, ...session });
  };
  const modernList = (path: string, headers: Headers_ = {}) => {
    const { body, headers: own } = modern("tools/list");
    return post(`${server.url}${path}`, body, { ...headers, ...own });
  };

  it("prompts are there for the one who asked for them, and for nobody else", async () => {
    for (const [path, there] of [
      ["?capabilities=full", true],
      ["", false],
    ] as const) {
      const { answer, session } = await handshake(`${server.url}${path}`);
      expect(JSON.stringify(answer.messages[0]?.result).includes('"prompts":{}')).toBe(there);
      const found = await post(`${server.url}${path}`, { jsonrpc: "2.0", id: 2, method: "prompts/list" }, session);
      expect(found.messages[0]?.error === undefined).toBe(there);
      const { body, headers } = modern("prompts/list");
      const stateless = await post(`${server.url}${path}`, body, headers);
      expect(stateless.messages[0]?.error === undefined).toBe(there);
    }
  });

  for (const [era, list] of [
    ["legacy", legacyList],
    ["modern", modernList],
  ] as const) {
    it(`${era}: toolsets, tools alone, prefix, style, read-only; nothing of GitLab is asked`, async () => {
      const plain = namesOf(await list(""));
      expect(plain).toHaveLength(5);
      const ci = namesOf(await list("/x/CI"));
      expect(ci).toEqual(expect.arrayContaining([...plain, "list_pipelines", "retry_pipeline"]));
      expect(namesOf(await list("/x/ci/readonly"))).not.toContain("retry_pipeline");
      const alone = namesOf(await list("?tools=get_issue"));
      expect(alone).toEqual([...plain, "get_issue"]);
      const union = namesOf(await list("", { "X-Gitlab-Enabled-Mcp-Server-Toolsets": "ci", "X-MCP-Tools": "get_issue" }));
      expect(new Set(union)).toEqual(new Set([...ci, "get_issue"]));
      expect(namesOf(await list("?style=dynamic&prefix=gl_"))).toEqual(["gl_gitlab_find_action", "gl_gitlab_execute_action"]);
    });

    it(`${era}: meta with its detail and hints, and what stands beside the tools`, async () => {
      const reply = await list("?style=META&toolsets=wikis&meta-schemas=compact&tool-hints=anthropic&capabilities=full");
      expect(namesOf(reply).slice(-2)).toEqual(["meta", "wikis"]);
      expect(JSON.stringify(reply.messages)).toContain("wiki_page.list(");
      expect(JSON.stringify(reply.messages)).toContain("anthropic/alwaysLoad");
      const wrong = await list("?capabilities=ful");
      expect([wrong.status, wrong.messages[0]?.error]).toEqual([
        400,
        expect.objectContaining({ data: expect.objectContaining({ valid: ["minimal", "full"] }) }),
      ]);
    });

    it(`${era}: can only narrow: what the server forbids stays forbidden`, async () => {
      expect(namesOf(await list("?tools=delete_branch"))).not.toContain("delete_branch");
      expect(namesOf(await list("?tools=list_branches&exclude-tools=list_branches"))).not.toContain("list_branches");
    });

    it(`${era}: an unknown name is 400 with unrecognized and valid, and no session is left behind`, async () => {
      const before = server.held().sessions;
      const toolset = await list("/x/ci,merge_request");
      expect(toolset.status).toBe(400);
      expect(toolset.messages[0]?.error).toMatchObject({
        code: -32_602,
        data: { unrecognized: ["merge_request"], valid: expect.arrayContaining(["merge_requests", "ci", "all", "default"]) },
      });
      const tool = await list("", { "X-MCP-Tools": "get_isue" });
      expect(tool.messages[0]?.error).toMatchObject({ data: { unrecognized: ["get_isue"], valid: expect.arrayContaining(["get_issue"]) } });
      const readOnly = await list("?readonly=ci,merge_request");
      expect([readOnly.status, readOnly.messages[0]?.error]).toMatchObject([
        400,
        { code: -32_602, data: { unrecognized: ["merge_request"], valid: expect.arrayContaining(["merge_requests", "ci"]) } },
      ]);
      expect(server.held().sessions).toBe(before);
    });

    it(`${era}: read-only for some toolsets`, async () => {
      const names = namesOf(await list("?tools=retry_pipeline,create_issue,list_issues&readonly=ci"));
      expect(names).not.toContain("retry_pipeline");
      expect(names).toEqual(expect.arrayContaining(["create_issue", "list_issues"]));
    });
  }

  it("modern: what is shaped by URL, headers or token is private and not kept", async () => {
    for (const method of ["tools/list", "server/discover"]) {
      const { body, headers } = modern(method);
      const answer = await post(`${server.url}?toolsets=ci`, body, headers);
      expect([method, answer.messages[0]?.result]).toMatchObject([method, { ttlMs: 0, cacheScope: "private" }]);
    }
    const { body, headers } = modern("server/discover");
    const discovered = await post(`${server.url}/readonly?prefix=gl_`, body, headers);
    expect(discovered.messages[0]?.result?.instructions).toMatch(/read-only.*gl_gitlab_find_action/s);
    expect(discovered.messages[0]?.result?.capabilities).toMatchObject({ tools: {} });
    expect(JSON.stringify(discovered.messages[0]?.result?.capabilities)).not.toContain("listChanged");
  });
});
