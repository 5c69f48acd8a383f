import { describe, expect, it } from "vitest";
import { SettingsError } from "../../src/config/fault.ts";
import { toHttpSettings } from "../../src/config/http-check.ts";
import { loadSettings } from "../../src/config/load.ts";
import type { Option } from "../../src/config/option.ts";
import { OPTIONS, type OptionName } from "../../src/config/options.ts";

type Env = Record<string, string>;
const load = (argv: string[] = [], env: Env = {}, transport: "stdio" | "http" = "stdio") => loadSettings({ argv, env, transport });
const set = (argv: string[] = [], env: Env = {}) => load(argv, env).settings;

function fault(argv: string[] = [], env: Env = {}, transport: "stdio" | "http" = "stdio"): string {
  try {
    load(argv, env, transport);
  } catch (error) {
    expect(error).toBeInstanceOf(SettingsError);
    expect((error as SettingsError).exitCode).toBe(2);
    const { message } = error as SettingsError;
    expect(message).not.toContain("\n");
    return message;
  }
  throw new Error(`nothing stopped ${JSON.stringify({ argv, env })}`);
}

/** What a client leaves behind that did not fill in a variable. */
const hole = (name: string) => ["$", `{${name}}`].join("");

/** One bad value of every setting, and what the message must say beside the setting's name. */
const BAD: Record<OptionName, readonly [value: string, says: RegExp]> = {
  url: ["gitlab.example.com", /nearest is https:\/\/gitlab\.example\.com$/],
  token: ["Bearer glpat-abcdefghijkl", /bare token.*such as glpat-/],
  tokenFile: [hole("TOKEN_FILE"), /placeholder/],
  tokenCommand: ["pass\nshow", /one line; such as pass show gitlab/],
  project: [hole("workspaceFolder"), /placeholder/],
  identifyTimeout: ["90000", /"90000" is not a whole number from 100 to 60000; the nearest is 60000/],
  timeout: ["30s", /"30s" is not a whole number from 100 to 600000; the nearest is 30000/],
  retries: ["9", /"9" is not a whole number from 0 to 5; the nearest is 5/],
  concurrency: ["0", /from 1 to 64; the nearest is 1/],
  settle: ["20000", /from 0 to 10000; the nearest is 10000/],
  caFile: [hole("CA"), /placeholder/],
  certFile: [hole("CERT"), /placeholder/],
  keyFile: [hole("KEY"), /placeholder/],
  httpProxy: ["ftp://proxy", /http, https or socks5.*such as http:/],
  httpsProxy: ["quic://proxy", /http, https or socks5.*such as http:/],
  noProxy: [" , ,", /names nothing/],
  style: ["dynamik", /not one of bridge, .*; the nearest is dynamic/],
  ab: ["style:brigde=50,dynamic=50", /no style with "brigde".*; the nearest is style:bridge=50,dynamic=50$/],
  abLog: [hole("AB_LOG"), /placeholder/],
  abSalt: ["short", /at least 16 visible characters/],
  metaSchemas: ["compct", /compact/],
  toolHints: ["antropic", /anthropic/],
  capabilities: ["ful", /full/],
  toolsets: [",", /names nothing/],
  tools: [",", /names nothing/],
  enablement: ["sesion", /nearest is session/],
  splitExecute: ["perhaps", /neither true nor false; the nearest is .*=true/],
  prefix: ["GitLab-", /up to 32 of a-z.*such as gitlab_/],
  allowToolsets: [",,", /names nothing/],
  allowTools: [",", /names nothing/],
  excludeTools: [",", /names nothing/],
  denyRegex: ["^(?=delete)", /looks ahead or behind, which is not supported; such as \^delete_/],
  allowProjects: [",", /names nothing/],
  allowGroups: [",", /names nothing/],
  policy: [hole("POLICY"), /placeholder/],
  allowRaw: ["perhaps", /neither true nor false/],
  allowOwnToken: ["perhaps", /neither true nor false/],
  readOnly: [",", /neither true nor false/],
  maxWrites: ["0", /from 1 to 10000; the nearest is 1/],
  audit: ["audit\nlog", /one line; such as stderr/],
  auditIdentity: ["hashed", /not one of name, hash; the nearest is hash/],
  safeMode: ["2", /neither true nor false/],
  admin: ["root", /neither true nor false/],
  tier: ["premum", /not one of free, premium, ultimate; the nearest is premium/],
  confirm: ["humans", /nearest is human/],
  revealSecrets: ["files", /nearest is file/],
  refusalContact: ["x".repeat(201), /longer than 200.*such as the platform team/],
  budget: ["499", /from 500 to 100000; the nearest is 500/],
  filesDir: [hole("FILES"), /placeholder/],
  http: ["maybe", /neither true nor false/],
  host: ["http://all", /address or a host name; such as 0\.0\.0\.0/],
  port: ["70000", /from 0 to 65535; the nearest is 65535/],
  basePath: ["gitlab/", /start with \/.*such as \/gitlab/],
  publicUrl: ["mcp.example.com", /nearest is https:\/\/mcp\.example\.com$/],
  allowedHosts: [",", /names nothing/],
  allowedOrigins: [",", /names nothing/],
  trustedProxies: [",", /names nothing/],
  auth: ["callers", /nearest is caller/],
  httpTokens: ["short", /at least 16 visible characters/],
  oauthClientId: ["one\ntwo", /one line/],
  instances: ["gitlab.example.org", /nearest is https:\/\/gitlab\.example\.org$/],
  sessionKey: ["short", /at least 32 visible characters/],
  sessionIdle: ["0", /from 1 to 43200; the nearest is 1/],
  maxSessions: ["0", /from 1 to 100000; the nearest is 1/],
  maxBody: ["4MB", /is not a whole number from 1024/],
  maxCalls: ["0", /from 1 to 256; the nearest is 1/],
  rateLimit: ["0", /from 1 to 1000000; the nearest is 1/],
  metricsPort: ["70000", /from 0 to 65535; the nearest is 65535/],
  metricsToken: ["short", /at least 16 visible characters/],
  upstreams: [hole("UPSTREAMS"), /placeholder/],
  gitlabMcp: ["maybe", /neither true nor false/],
  gitlabMcpToken: ["Bearer abcdef", /bare token.*such as an OAuth access token/],
  prefer: ["rests", /nearest is rest/],
  name: ["n ".repeat(41), /longer than 40.*such as work/],
  sandbox: ["maybe", /neither true nor false/],
  logLevel: ["warning", /not one of silent, error.*; the nearest is warn/],
};

const ROWS = Object.entries(OPTIONS) as [OptionName, Option][];
/** A partner that a good start needs, so that only the value is wrong. */
const BESIDE: Partial<Record<OptionName, string[]>> = {
  certFile: ["--client-key-file=k"],
  keyFile: ["--client-cert-file=c"],
  abLog: ["--ab=style:bridge=1,dynamic=1"],
  abSalt: ["--ab=style:bridge=1,dynamic=1"],
  auditIdentity: ["--audit=stderr"],
  gitlabMcpToken: ["--gitlab-mcp"],
};

describe("a bad value stops the start", () => {
  it("every setting has a case", () => expect(Object.keys(BAD).sort()).toEqual(Object.keys(OPTIONS).sort()));

  describe.each(ROWS)("%s", (name, option) => {
    const [value, says] = BAD[name];
    it("as a flag", () => {
      const message = fault([`--${option.flag}=${value}`, ...(BESIDE[name] ?? [])]);
      expect(message).toMatch(says);
      expect(message.startsWith(`--${option.flag}`)).toBe(true);
    });
    it.each([option.env, ...(option.aliases ?? [])])("as %s", (env) => {
      const message = fault(BESIDE[name], { [env]: value });
      expect(message).toMatch(says);
      expect(message.startsWith(`${env}:`)).toBe(true);
    });
    it("as an empty flag", () => expect(fault([`--${option.flag}=`])).toMatch(/empty value/));
    it.each([option.env, ...(option.aliases ?? [])])("not as a blank %s", (env) =>
      expect(load([], { [env]: " " }).sources[name]).toBe("default"),
    );
    if (option.kind !== "switch") it("as a flag without its value", () => expect(fault([`--${option.flag}`])).toMatch(/needs a value/));
  });
});

describe("precedence", () => {
  it("flag, own name, name brought along, default", () => {
    const argv = ["--url=https://flag.example"];
    const own = { GITLAB_URL: "https://own.example" };
    const alias = { GITLAB_API_URL: "https://alias.example/api/v4" };
    expect(load(argv, { ...own, ...alias })).toMatchObject({ settings: { url: "https://flag.example" }, sources: { url: "flag --url" } });
    expect(load([], { ...own, ...alias })).toMatchObject({ settings: { url: "https://own.example" }, sources: { url: "env GITLAB_URL" } });
    expect(load([], alias)).toMatchObject({ settings: { url: "https://alias.example" }, sources: { url: "env GITLAB_API_URL" } });
    expect(load()).toMatchObject({ settings: { url: "https://gitlab.com" }, sources: { url: "default" } });
  });
  it("a switch can be turned off by a flag", () => {
    for (const argv of [["--no-read-only"], ["--read-only=false"], ["--read-only", "false"], ["--read-only=OFF"]]) {
      expect(set(argv, { GITLAB_BRIDGE_READ_ONLY: "1" }).readOnly).toBe(false);
    }
  });
  it("the weaker name is told of", () => {
    expect(load([], { GITLAB_TOKEN: "a", GITLAB_PERSONAL_ACCESS_TOKEN: "b" }).warnings).toEqual([
      "GITLAB_PERSONAL_ACCESS_TOKEN is not used: GITLAB_TOKEN is set",
    ]);
    expect(load([], { GITLAB_TOKEN: "a", GITLAB_PERSONAL_ACCESS_TOKEN: "a" }).warnings).toEqual([]);
  });
  it("settings are frozen, lists too", () => {
    const settings = set(["--toolsets=ci"]);
    expect(Object.isFrozen(settings) && Object.isFrozen(settings.toolsets) && Object.isFrozen(settings.tools)).toBe(true);
  });
});

describe("values", () => {
  it.each(["true", "1", "yes", "on", "TRUE", "Yes", " on "])("%s is on", (word) => {
    expect(set([], { GITLAB_BRIDGE_READ_ONLY: word }).readOnly).toBe(true);
  });
  it.each(["false", "0", "no", "off", "False"])("%s is off", (word) => {
    expect(set([], { GITLAB_BRIDGE_READ_ONLY: word }).readOnly).toBe(false);
  });
  it("a switch does not eat the next flag", () => {
    expect(set(["--read-only", "--safe-mode"])).toMatchObject({ readOnly: true, safeMode: true });
  });
  it("a value may follow its flag or stand behind =, and may hold =", () => {
    expect(set(["--token", "a=b"]).token).toBe("a=b");
    expect(set(["--token=a=b"]).token).toBe("a=b");
  });
  it("lists: commas, repetition, blanks, case", () => {
    expect(set(["--toolsets", " ci, Repository ,,ci", "--toolsets=CI,work_items"]).toolsets).toEqual(["ci", "Repository", "work_items"]);
    expect(set([], { GITLAB_BRIDGE_TOOLSETS: "ci,\trepository," }).toolsets).toEqual(["ci", "repository"]);
  });
  it("a command may use the shell's variables", () => {
    expect(set(["--token-command", `cat ${hole("HOME")}/t`]).tokenCommand).toContain("HOME");
  });
  it("numbers are whole", () => {
    expect(set(["--retries=0"]).retries).toBe(0);
    expect(fault(["--retries=1.5"])).toContain("nearest is 2");
    expect(fault(["--retries=0x2"])).toContain("not a whole number");
    expect(fault(["--retries=-1"])).toContain("nearest is 0");
  });
  it("choices in any case", () =>
    expect(set(["--style=Dynamic", "--log-level=WARN"])).toMatchObject({ style: "dynamic", logLevel: "warn" }));
  it.each([
    ["https://gitlab.example.com/", "https://gitlab.example.com"],
    ["https://gitlab.example.com/api/v4", "https://gitlab.example.com"],
    ["https://gitlab.example.com/api/v4///", "https://gitlab.example.com"],
    ["https://Gitlab.Example.com//api//v4/", "https://gitlab.example.com"],
    ["https://example.com/gitlab/", "https://example.com/gitlab"],
    ["https://example.com/gitlab/api/v4/", "https://example.com/gitlab"],
    ["http://127.0.0.1:8080/api", "http://127.0.0.1:8080"],
    [" https://gitlab.example.com ", "https://gitlab.example.com"],
  ])("url %s is %s", (given, url) => expect(set(["--url", given]).url).toBe(url));
  it.each([
    ["ssh://git@gitlab.example.com", /must start with http/],
    ["https://user:pw@gitlab.example.com/x", /no user name.*nearest is https:\/\/gitlab\.example\.com\/x$/],
    ["https://gitlab.example.com/?private_token=x", /nearest is https:\/\/gitlab\.example\.com$/],
    ["https://", /must start with http/],
    ["localhost:8080", /must start with http.*nearest is https:\/\/localhost:8080$/],
  ])("url %s is refused", (given, says) => expect(fault(["--url", given])).toMatch(says));
  it.each([
    ["proxy.example.com:3128", "http://proxy.example.com:3128"],
    ["socks5://127.0.0.1:1080", "socks5://127.0.0.1:1080"],
    ["https://user:pw@proxy", "https://user:pw@proxy"],
  ])("proxy %s", (given, proxy) => expect(set([], { HTTPS_PROXY: given }).httpsProxy).toBe(proxy));
});

describe("names brought along", () => {
  it.each([
    [{ GITLAB_API_URL: "https://g.example/api/v4" }, { url: "https://g.example" }],
    [{ GITLAB_MCP_URL: "https://g.example" }, { url: "https://g.example" }],
    [{ GITLAB_PERSONAL_ACCESS_TOKEN: "t" }, { token: "t" }],
    [{ GITLAB_MCP_TOKEN: "t" }, { token: "t" }],
    [{ GITLAB_READ_ONLY: "yes" }, { readOnly: true }],
    [{ GITLAB_READ_ONLY_MODE: "true" }, { readOnly: true }],
    [{ GITLAB_MCP_READ_ONLY: "1" }, { readOnly: true }],
    [{ GITLAB_SAFE_MODE: "on" }, { safeMode: true }],
    [{ GITLAB_MCP_SAFE_MODE: "on" }, { safeMode: true }],
    [{ GITLAB_TOOLSETS: "issues,ci" }, { toolsets: ["issues", "ci"] }],
    [{ GITLAB_MCP_TOOLSETS: "ci" }, { toolsets: ["ci"] }],
    [{ GITLAB_TOOLS: "list_issues" }, { tools: ["list_issues"] }],
    [{ GITLAB_MCP_TOOLS: "list_issues" }, { tools: ["list_issues"] }],
    [{ EXCLUDE_TOOLS: "project.delete" }, { excludeTools: ["project.delete"] }],
    [{ GITLAB_MCP_EXCLUDE_TOOLS: "project.delete" }, { excludeTools: ["project.delete"] }],
    [{ TOOL_SURFACE: "dynamic" }, { style: "dynamic" }],
    [{ TOOL_SURFACE: "individual" }, { style: "individual" }],
    [{ META_TOOLS: "false" }, { style: "individual" }],
    [{ META_TOOLS: "true" }, { style: "meta" }],
    [{ TOOL_SURFACE: "dynamic", META_TOOLS: "true" }, { style: "dynamic" }],
    [{ CAPABILITY_SURFACE: "full" }, { capabilities: "full" }],
    [{ TOOL_SURFACE: "dynamic", META_TOOLS: "false" }, { style: "dynamic" }],
    [{ GITLAB_BRIDGE_STYLE: "static", TOOL_SURFACE: "dynamic" }, { style: "static" }],
    [{ YOLO_MODE: "true" }, { confirm: "off" }],
    [{ AUTOPILOT: "1" }, { confirm: "off" }],
    [{ YOLO_MODE: "false", AUTOPILOT: "0" }, { confirm: "flag" }],
    [{ YOLO_MODE: "true", GITLAB_BRIDGE_CONFIRM: "human" }, { confirm: "human" }],
    [
      { http_proxy: "http://p:1", https_proxy: "http://q:1", no_proxy: "a,.b" },
      { httpProxy: "http://p:1", httpsProxy: "http://q:1", noProxy: ["a", ".b"] },
    ],
    [{ ALL_PROXY: "socks5://p:1" }, { httpProxy: "socks5://p:1", httpsProxy: "socks5://p:1" }],
  ] as [Env, object][])("%o", (env, settings) => expect(set([], env)).toMatchObject(settings));

  it("a style that is not there names those that are", () => {
    expect(fault([], { TOOL_SURFACE: "everything" })).toMatch(/^TOOL_SURFACE: "everything" is not one of bridge, toolsets, dynamic, /);
    expect(fault([], { META_TOOLS: "sometimes" })).toMatch(/^META_TOOLS: .*neither true nor false/);
  });

  describe("switches that skip confirmation", () => {
    it.each(["YOLO_MODE", "AUTOPILOT"])("%s stops an HTTP server and names the setting", (name) => {
      expect(fault([], { [name]: "true" }, "http")).toMatch(new RegExp(`^${name} .*--confirm=off$`));
      expect(fault(["--confirm=human"], { [name]: "true" }, "http")).toContain("--confirm=off");
      expect(load([], { [name]: "false" }, "http").settings.confirm).toBe("human");
      expect(load([], { [name]: "" }, "http").settings.confirm).toBe("human");
    });
    it("other switches of that kind are taken over HTTP", () => {
      expect(load([], { META_TOOLS: "false" }, "http").settings.style).toBe("individual");
    });
    it("a bad value stops both", () => {
      expect(fault([], { YOLO_MODE: "yolo" })).toContain("YOLO_MODE=true");
      expect(fault([], { AUTOPILOT: "2" }, "http")).toContain("AUTOPILOT=true");
    });
  });

  it("a limit of another server is never dropped in silence", () => {
    expect(set([], { GITLAB_ALLOWED_PROJECT_IDS: "1,2" }).allowProjects).toEqual(["1", "2"]);
    expect(set([], { GITLAB_DENIED_TOOLS_REGEX: "^delete_.{2,3}$" }).denyRegex).toEqual(["^delete_.{2,3}$"]);
    expect(fault([], { GITLAB_DENIED_TOOLS_REGEX: "(?!get)" })).toMatch(/^GITLAB_DENIED_TOOLS_REGEX: .*looks ahead/);
  });
  it.each(["GITLAB_DENIED_ACTIONS", "GITLAB_ALLOWED_TOOLS"])("nor is %s, which is not understood: it stops the start", (name) => {
    for (const transport of ["stdio", "http"] as const)
      expect(fault([], { [name]: "manage_milestone:delete" }, transport)).toMatch(
        new RegExp(`^${name} is a limit .*--(exclude|allow)-tools`),
      );
    expect(load([], { [name]: " " }).warnings).toEqual([]);
  });
  it.each([
    ["SKIP_TLS_VERIFY", "true", "false", /--ca-file/],
    ["NODE_TLS_REJECT_UNAUTHORIZED", "0", "1", /--ca-file/],
    ["ENABLE_DYNAMIC_API_URL", "true", "false", /--instances/],
    ["USE_PIPELINE", "false", "true", /--exclude-tools=toolset:ci /],
    ["USE_GITLAB_WIKI", "false", "true", /toolset:wikis/],
  ])("%s=%s is told of, %s is not", (name, told, silent, says) => {
    expect(load([], { [name]: told }).warnings).toEqual([expect.stringMatching(says)]);
    expect(load([], { [name]: silent }).warnings).toEqual([]);
  });
  it("names without effect are told of", () => {
    expect(load([], { GITLAB_SKIP_TLS_VERIFY: "true" }).warnings).toEqual([expect.stringContaining("--ca-file")]);
    expect(load([], { GITLAB_MCP_PREFIXES: "x" }).warnings).toEqual([expect.stringContaining("GITLAB_BRIDGE_PREFIX")]);
    expect(load([], { GITLAB_CI: "true", GITLAB_USER_ID: "7", PATH: "/bin" }).warnings).toEqual([]);
  });
});

describe("defaults that depend on the transport", () => {
  it("stdio", () => expect(load().settings).toMatchObject({ confirm: "flag", revealSecrets: "file" }));
  it("http", () => expect(load([], {}, "http").settings).toMatchObject({ confirm: "human", revealSecrets: "never" }));
  it("http, said otherwise", () => {
    expect(load(["--confirm=off", "--reveal-secrets=result"], {}, "http").settings).toMatchObject({
      confirm: "off",
      revealSecrets: "result",
    });
  });
});

describe("unknown names stop the start", () => {
  it.each([
    ["--read-ony", "--read-only"],
    ["--readonly", "--read-only"],
    ["--toolset=ci", "--toolsets"],
    ["--tokn=glpat-abcdefghijklmnop", "--token"],
    ["--Style=bridge", "--style"],
    ["--excludetools", "--exclude-tools"],
    ["--no-readonly", "--no-read-only"],
  ])("%s: %s", (flag, near) => expect(fault([flag])).toMatch(new RegExp(`is not a flag; the nearest is ${near}$`)));
  it.each([
    ["GITLAB_BRIDGE_READONLY", "GITLAB_BRIDGE_READ_ONLY"],
    ["GITLAB_BRIDGE_TOOLSET", "GITLAB_BRIDGE_TOOLSETS"],
    ["GITLAB_BRIDGE_LOGLEVEL", "GITLAB_BRIDGE_LOG_LEVEL"],
    ["GITLAB_BRIDGE_URL", "GITLAB_URL"],
    ["GITLAB_BRIDGE_TOKEN", "GITLAB_TOKEN"],
  ])("%s: %s", (name, near) =>
    expect(fault([], { [name]: "x" })).toMatch(new RegExp(`^${name} is not a setting; the nearest is ${near}$`)),
  );
  it("a blank one counts as not set", () => expect(load([], { GITLAB_BRIDGE_NOTHING: "" }).warnings).toEqual([]));
  it("words that are no flags", () => {
    expect(fault(["reads"])).toContain('"reads" is not a flag');
    expect(fault(["--read-only", "perhaps"])).toContain('"perhaps" is not a flag');
    expect(fault(["-t"])).toContain("argument 1 is not a flag");
    expect(fault(["--no-toolsets"])).toContain("--no-toolsets is not a flag");
    expect(fault(["--no-read-only=true"])).toContain("--read-only=false");
    expect(fault(["--"])).toContain("is not a flag");
  });
});

describe("contradictions stop the start", () => {
  it("one flag, two values", () => {
    expect(fault(["--url=https://a.example", "--url=https://b.example"])).toMatch(/^--url is given twice/);
    expect(fault(["--read-only", "--no-read-only"])).toMatch(/^--read-only is given twice/);
    expect(set(["--read-only", "--read-only=true"]).readOnly).toBe(true);
  });
  it("two tokens of the same strength", () => {
    expect(fault(["--token=a", "--token-file=b"])).toMatch(/^--token and --token-file both give the token/);
    expect(fault([], { GITLAB_TOKEN: "a", GITLAB_TOKEN_COMMAND: "b" })).toMatch(/^GITLAB_TOKEN and GITLAB_TOKEN_COMMAND both/);
  });
  it("two tokens of different strength: the stronger stands alone", () => {
    expect(set(["--token-file=b"], { GITLAB_TOKEN: "a" })).toMatchObject({ token: undefined, tokenFile: "b" });
    const loaded = load([], { GITLAB_TOKEN_COMMAND: "c", GITLAB_PERSONAL_ACCESS_TOKEN: "a" });
    expect(loaded.settings).toMatchObject({ token: undefined, tokenCommand: "c" });
    expect(loaded.sources.token).toBe("default");
    expect(loaded.warnings).toEqual(["GITLAB_PERSONAL_ACCESS_TOKEN is not used: GITLAB_TOKEN_COMMAND is set"]);
  });
  it.each([
    [{ GITLAB_READ_ONLY: "false", GITLAB_READ_ONLY_MODE: "true" }, /^GITLAB_READ_ONLY and GITLAB_READ_ONLY_MODE say two different things/],
    [{ GITLAB_SAFE_MODE: "0", GITLAB_MCP_SAFE_MODE: "yes" }, /^GITLAB_SAFE_MODE and GITLAB_MCP_SAFE_MODE/],
    [{ EXCLUDE_TOOLS: "a", GITLAB_MCP_EXCLUDE_TOOLS: "b" }, /^EXCLUDE_TOOLS and GITLAB_MCP_EXCLUDE_TOOLS/],
  ] as [Env, RegExp][])("two names brought along that limit in two ways: %o", (env, says) => {
    expect(fault([], env)).toMatch(says);
    expect(fault([], env, "http")).toMatch(says);
  });
  it("the same limit twice, or a flag over both, is none", () => {
    expect(set([], { GITLAB_READ_ONLY: "yes", GITLAB_READ_ONLY_MODE: "TRUE" }).readOnly).toBe(true);
    expect(set([], { EXCLUDE_TOOLS: "a, b", GITLAB_MCP_EXCLUDE_TOOLS: "a,b" }).excludeTools).toEqual(["a", "b"]);
    expect(set(["--read-only"], { GITLAB_READ_ONLY: "false", GITLAB_READ_ONLY_MODE: "true" }).readOnly).toBe(true);
    expect(set([], { GITLAB_BRIDGE_READ_ONLY: "true", GITLAB_READ_ONLY_MODE: "false" }).readOnly).toBe(true);
  });
  it("what means nothing alone", () => {
    expect(fault(["--audit-identity=hash"])).toBe("--audit-identity needs --audit beside it");
    expect(fault([], { GITLAB_BRIDGE_GITLAB_MCP_TOKEN: "t" })).toBe("GITLAB_BRIDGE_GITLAB_MCP_TOKEN needs --gitlab-mcp beside it");
  });
  it("one token for a GitLab that callers choose", () => {
    const http = (...argv: string[]) => toHttpSettings(load(["--http", "--instances=https://g.example", ...argv], {}, "http").settings);
    expect(() => http("--token=glpat-0123456789")).toThrow(/--instances .* --auth=server has the token of one/);
    expect(() => http("--token=glpat-0123456789", "--auth=server")).toThrow(/--instances/);
    expect(http().settings.instances).toEqual(["https://g.example"]);
  });
  it("half a client certificate", () => {
    expect(fault(["--client-cert-file=c"])).toBe("--client-cert-file needs --client-key-file beside it");
    expect(fault([], { GITLAB_BRIDGE_CLIENT_KEY_FILE: "k" })).toBe("GITLAB_BRIDGE_CLIENT_KEY_FILE needs --client-cert-file beside it");
  });
  it("the sandbox and another GitLab", () => {
    expect(fault(["--sandbox", "--url=https://g.example"])).toMatch(/--url and --sandbox/);
    const loaded = load(["--sandbox"], { GITLAB_URL: "https://g.example", GITLAB_TOKEN: "t" });
    expect(loaded.settings).toMatchObject({ sandbox: true, url: "https://gitlab.com", token: undefined });
    expect(loaded.warnings).toEqual(["GITLAB_URL is not used: the sandbox is on", "GITLAB_TOKEN is not used: the sandbox is on"]);
    expect(set(["--sandbox", "--token=own"]).token).toBe("own");
    expect(set(["--no-sandbox", "--url=https://g.example"], {}).url).toBe("https://g.example");
  });
  it("what is not a contradiction, but worth knowing", () => {
    expect(load(["--read-only", "--safe-mode"]).warnings).toEqual([expect.stringMatching(/^--read-only wins/)]);
    expect(load(["--url=http://g.example", "--token=t"]).warnings).toEqual([expect.stringContaining("unencrypted")]);
    expect(load(["--url=http://127.0.0.1:1", "--token=t"]).warnings).toEqual([]);
  });
});

describe("no secret is ever shown", () => {
  const secret = "glpat-S3cretS3cretS3cret";
  const spaced = `${secret} x`;
  it.each([
    [["--token", spaced], {}],
    [[`--tokn=${secret}`], {}],
    [[secret], {}],
    [[`--${secret}`], {}],
    [["--read-only", secret], {}],
    [[`--read-only=${secret}`], {}],
    [["--style", secret], {}],
    [["--retries", secret], {}],
    [["--url", secret], {}],
    [["--url", `https://oauth2:${secret}@gitlab.example.com`], {}],
    [["--url", `oauth2:${secret}@gitlab.example.com`], {}],
    [["--url", `https://gitlab.example.com/?private_token=${secret}`], {}],
    [["--prefix", secret], {}],
    [["--token=a", `--token=${secret}`], {}],
    [["--token", secret, "--token-file=x"], {}],
    [[], { GITLAB_TOKEN: spaced }],
    [[], { GITLAB_BRIDGE_TOKEN: secret }],
    [[], { HTTPS_PROXY: `ftp://user:${secret}@proxy` }],
    [[], { HTTP_PROXY: `${secret} x` }],
    [[], { YOLO_MODE: secret }],
  ] as [string[], Env][])("%j %j", (argv, env) => expect(fault(argv, env)).not.toContain("S3cret"));

  it("nor in a warning", () => {
    const { warnings } = load(["--sandbox"], { GITLAB_TOKEN: secret, GITLAB_MCP_TOKEN: `${secret}2`, GITLAB_MCP_X: secret });
    expect(warnings.length).toBeGreaterThan(2);
    expect(warnings.join("\n")).not.toContain("S3cret");
  });
});

describe("a live comparison of styles", () => {
  const say = (value: string, ...more: string[]) => fault([`--ab=${value}`, ...more]);

  it("is styles with weights, in any case and spacing", () => {
    const ab = [
      { style: "bridge", weight: 50 },
      { style: "static", weight: 0 },
    ];
    expect(set(["--ab=style:bridge=50,static=0"]).ab).toEqual(ab);
    expect(set([], { GITLAB_BRIDGE_AB: "style: Bridge = 50, STATIC=0," }).ab).toEqual(ab);
    expect(set().ab).toBeUndefined();
  });
  it.each([
    ["bridge=50,dynamic=50", /must begin with style:; the nearest is style:bridge=50,dynamic=50$/],
    ["style:bridge=50,dynamik=x", /no style with "dynamik".*; the nearest is style:bridge=50,dynamic=50$/],
    ["style:bridge,dynamic", /whole number from 0 to 1000000 for bridge.*; the nearest is style:bridge=50,dynamic=50$/],
    ["style:bridge=-1,dynamic=2", /whole number.*; the nearest is style:bridge=50,dynamic=2$/],
    ["style:bridge=1.5,dynamic=2", /whole number/],
    ["style:bridge=1=2,dynamic=2", /whole number/],
    ["style:bridge=0,dynamic=0", /every style the weight 0; the nearest is style:bridge=50,dynamic=50$/],
    ["style:bridge=1,bridge=2", /names a style twice/],
    ["style:bridge=100", /two styles or more/],
    ["style:", /two styles or more/],
  ])("%s stops the start", (value, says) => {
    const message = say(value);
    expect(message).toMatch(says);
    const near = /the nearest is (\S+)$/.exec(message)?.[1] ?? "";
    expect(set([`--ab=${near}`]).ab).toBeDefined();
  });
  it("contradicts a style for all, wherever that comes from", () => {
    expect(say("style:bridge=1,dynamic=1", "--style=static")).toMatch(/--ab and --style both choose the style/);
    expect(fault(["--ab=style:bridge=1,dynamic=1"], { TOOL_SURFACE: "meta" })).toMatch(/--ab and TOOL_SURFACE both/);
  });
  it("its log and salt need it", () => {
    expect(fault(["--ab-log=f"])).toBe("--ab-log needs --ab beside it");
    expect(fault(["--ab-salt=0123456789abcdef"])).toBe("--ab-salt needs --ab beside it");
  });
  it("tells what is missing for a comparison that lasts", () => {
    const ab = "--ab=style:bridge=1,dynamic=1";
    expect(load([ab]).warnings).toEqual([expect.stringContaining("--ab without --ab-log")]);
    expect(load([ab, "--ab-log=f"]).warnings).toEqual([expect.stringContaining("--ab-salt keeps them")]);
    for (const key of ["--ab-salt=0123456789abcdef", `--session-key=${"k".repeat(32)}`])
      expect(load([ab, "--ab-log=f", key]).warnings).toEqual([]);
  });
  it("over HTTP needs each caller's own token", () => {
    const http = (...argv: string[]) => toHttpSettings(load(["--http", "--ab=style:bridge=1,dynamic=1", ...argv], {}, "http").settings);
    expect(() => http("--token=glpat-0123456789")).toThrow(/all are one; set --auth=caller/);
    expect(http("--auth=caller").settings.ab).toHaveLength(2);
  });
});
