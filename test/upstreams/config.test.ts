import { describe, expect, it } from "vitest";
import { SettingsError } from "../../src/config/fault.ts";
import { readUpstreams, substitute, upstreamsJsonSchema } from "../../src/upstreams/config.ts";

const hole = (text: string) => ["$", `{${text}}`].join("");
const read = (mcpServers: Record<string, unknown>, env: Record<string, string> = {}) => readUpstreams({ mcpServers }, env);

const refusal = (value: unknown, env: Record<string, string> = {}): string => {
  try {
    readUpstreams(value, env);
  } catch (error) {
    expect(error).toBeInstanceOf(SettingsError);
    expect((error as Error).message).not.toContain("\n");
    return (error as Error).message;
  }
  throw new Error("nothing was refused");
};

describe("the file of upstreams", () => {
  it("is what people have already, with a few keys more", () => {
    const [one, two, three] = read(
      {
        "My-Server": { command: "npx", args: ["-y", "x", hole("ARG:-none")], env: { TOKEN: hole("TOKEN") }, cwd: "/tmp" },
        remote: {
          type: "http",
          url: `https://${hole("HOST")}/mcp`,
          headers: { Authorization: `Bearer ${hole("TOKEN")}` },
          forwardHeaders: ["X-Who"],
        },
        old: {
          type: "sse",
          url: "http://127.0.0.1:1/sse",
          toolsets: { ci: ["a*"] },
          prefix: "p_",
          effect: "read",
          sessionMode: "shared",
          timeout: 5000,
        },
        off: { command: "x", disabled: true },
      },
      { TOKEN: "t0p", HOST: "example.com", PATH: "/bin", GITLAB_TOKEN: "mine" },
    );
    expect(one).toMatchObject({
      name: "my_server",
      link: { kind: "stdio", args: ["-y", "x", "none"], env: { TOKEN: "t0p", PATH: "/bin" }, cwd: "/tmp" },
    });
    expect(JSON.stringify(one)).not.toContain("mine");
    expect(two).toMatchObject({
      link: { kind: "http", url: "https://example.com/mcp", headers: { Authorization: "Bearer t0p" } },
      forwardHeaders: ["x-who"],
    });
    expect(three).toMatchObject({
      link: { kind: "sse" },
      toolsets: { ci: ["a*"] },
      effect: [["*", "read"]],
      sessionMode: "shared",
      timeout: 5000,
    });
  });

  it.each<[string, unknown, RegExp]>([
    ["no servers", {}, /mcpServers/],
    ["another key at the top", { servers: {} }, /"servers", which is not known; the nearest is "mcpServers"/],
    ["another key of an entry", { mcpServers: { a: { command: "x", toolset: {} } } }, /mcpServers\.a.*"toolset".*nearest is "toolsets"/],
    ["neither command nor url", { mcpServers: { a: {} } }, /a needs either command or url/],
    ["both", { mcpServers: { a: { command: "x", url: "http://h" } } }, /not both/],
    ["a type that does not fit", { mcpServers: { a: { command: "x", type: "http" } } }, /its type is "stdio"/],
    ["no address", { mcpServers: { a: { url: "ftp://h" } } }, /http:\/\/ or https:\/\//],
    ["a bad effect", { mcpServers: { a: { command: "x", effect: "readonly" } } }, /mcpServers\.a\.effect/],
    ["seconds for milliseconds", { mcpServers: { a: { command: "x", timeout: 30 } } }, /mcpServers\.a\.timeout.*1000/],
    ["our own name", { mcpServers: { GitLab: { command: "x" } } }, /taken; the nearest is "gitlab_2"/],
    ["two names that are one", { mcpServers: { "a-b": { command: "x" }, a_b: { command: "x" } } }, /the same name/],
    ["a bad name of a toolset", { mcpServers: { a: { command: "x", toolsets: { "C I": [] } } } }, /not a name of a toolset/],
    ["no object", [], /the file/],
  ])("%s stops the start", (_what, value, says) => expect(refusal(value)).toMatch(says));

  it("a variable that is not set stops the start, with the nearest that is", () => {
    expect(refusal({ mcpServers: { a: { command: "x", env: { T: hole("MY_TOKN") } } } }, { MY_TOKEN: "secret-value" })).toMatch(
      /a\.env\.T needs the environment variable MY_TOKN, which is not set; the nearest is MY_TOKEN$/,
    );
    expect(substitute(`a ${hole("X:-")} b`, {}, "here")).toBe("a  b");
  });

  it("has a schema that is published", () => {
    const schema = JSON.stringify(upstreamsJsonSchema());
    for (const key of ["mcpServers", "toolsets", "prefix", "include", "exclude", "effect", "sessionMode", "forwardHeaders", "timeout"])
      expect(schema).toContain(`"${key}"`);
  });
});
