import * as z from "zod";
import type { Effect } from "../catalog/types.ts";
import type { Environment } from "../config/environment.ts";
import { SettingsError, shown } from "../config/fault.ts";
import { nearest } from "../nearest.ts";
import type { UpstreamAuth } from "./oauth.ts";

const words = z.array(z.string().min(1));
const effect = z.enum(["annotations", "read", "write", "destructive"]);

/** One entry of `mcpServers`, as people write it, with the few keys that are ours. */
const entrySchema = z
  .strictObject({
    type: z.enum(["stdio", "http", "streamable-http", "streamableHttp", "sse"]).optional().describe("Told by command or url where absent"),
    command: z.string().min(1).optional().describe("Program of a server over stdio"),
    args: z.array(z.string()).optional(),
    env: z.record(z.string(), z.string()).optional().describe("Its environment, beside PATH, HOME and the like"),
    cwd: z.string().min(1).optional(),
    url: z.string().min(1).optional().describe("Address of a server over HTTP"),
    headers: z.record(z.string(), z.string()).optional().describe("Sent with every request"),
    disabled: z.boolean().optional().describe("Leaves the entry out"),
    toolsets: z.record(z.string(), words).optional().describe("Toolset → names or patterns (*) of the tools that go into it"),
    prefix: z
      .string()
      .regex(/^[a-z0-9_]{0,16}$/, "must be up to 16 of a-z, 0-9 and _")
      .optional()
      .describe("Put before every tool name of this server"),
    include: words.optional().describe("Only these tools: names or patterns (*)"),
    exclude: words.optional().describe("Never these tools: names or patterns (*)"),
    effect: z
      .union([effect, z.record(z.string(), effect)])
      .optional()
      .describe("What its tools do: for all, or by name or pattern (*), first match counts; annotations = as the server says"),
    trust: z
      .boolean()
      .optional()
      .describe("false: the server's annotations can make a tool worse (destructive), never better (read). Default true"),
    sessionMode: z.enum(["auto", "shared"]).optional().describe("auto: each client has a connection of its own; shared: all use one"),
    forwardHeaders: words.optional().describe("Headers of the caller's request that are passed on, over HTTP only"),
    timeout: z.int().min(1_000).max(3_600_000).optional().describe("Milliseconds without answer or progress (60000)"),
    graceSeconds: z.int().min(0).max(86_400).optional().describe("Seconds that the tools of a dead server stay listed (300)"),
  })
  .describe("One server");

export const fileSchema = z
  .strictObject({
    $schema: z.string().optional(),
    mcpServers: z.record(z.string(), entrySchema).describe("Other MCP servers, by name"),
  })
  .describe("Upstream servers of gitlab-toolset-bridge");

type Entry = z.output<typeof entrySchema>;

/** One upstream, ready to be dialled. */
export interface UpstreamConfig {
  /** `[a-z0-9_]`: first part of its actions' ids and the name of its toolset. */
  readonly name: string;
  readonly link:
    | {
        readonly kind: "stdio";
        readonly command: string;
        readonly args: readonly string[];
        readonly env: Readonly<Record<string, string>>;
        readonly cwd?: string;
      }
    | { readonly kind: "http" | "sse"; readonly url: string; readonly headers: Readonly<Record<string, string>> };
  readonly toolsets: Readonly<Record<string, readonly string[]>>;
  readonly prefix: string;
  readonly include: readonly string[];
  readonly exclude: readonly string[];
  readonly effect: readonly (readonly [pattern: string, effect: Effect | "annotations"])[];
  readonly trust: boolean;
  readonly sessionMode: "auto" | "shared";
  readonly forwardHeaders: readonly string[];
  readonly timeout: number;
  /** Milliseconds that its tools stay listed after it died. */
  readonly grace: number;
  /** Credentials that are renewed while it runs. */
  readonly auth?: UpstreamAuth;
  /** What to tell where it refuses the credential. */
  readonly wants?: string;
}

/** The published JSON Schema of the file. */
export const upstreamsJsonSchema = (): unknown => z.toJSONSchema(fileSchema, { io: "input" });

const KEYS = [...Object.keys(entrySchema.shape)];

function unknownKey(name: string, key: string, known: readonly string[]): never {
  const near = nearest(key, known, 1)[0];
  throw new SettingsError(
    `--upstreams: ${name} has the key ${shown(key)}, which is not known; ${near ? `the nearest is "${near}"` : `known: ${known.join(", ")}`}`,
  );
}

/** @throws SettingsError one line about the first thing that is wrong. */
function check(value: unknown): z.output<typeof fileSchema> {
  const result = fileSchema.safeParse(value);
  if (result.success) return result.data;
  const issue = result.error.issues.find(({ code }) => code === "unrecognized_keys") ?? result.error.issues[0];
  const path = (issue?.path ?? []).map(String);
  const where = path.length > 0 ? path.join(".") : "the file";
  if (issue?.code === "unrecognized_keys")
    unknownKey(where, issue.keys[0] ?? "", path.length === 0 ? ["mcpServers"] : path.length === 2 ? KEYS : []);
  throw new SettingsError(`--upstreams: ${where}: ${issue?.message ?? "is not valid"}`);
}

/** `${NAME}` and `${NAME:-default}` from the environment that was handed down. @throws SettingsError for a name that is not set. */
export function substitute(text: string, env: Environment, where: string): string {
  return text.replace(/\$\{([A-Za-z_][A-Za-z0-9_]*)(?::-([^}]*))?\}/g, (_all, name: string, fallback: string | undefined) => {
    const value = env[name] ?? fallback;
    if (value !== undefined) return value;
    const near = nearest(name, Object.keys(env), 1)[0];
    throw new SettingsError(
      `--upstreams: ${where} needs the environment variable ${name}, which is not set${near ? `; the nearest is ${near}` : ""}`,
    );
  });
}

/** What a child gets of our own environment; tokens and settings of ours stay with us. */
const INHERITED =
  /^(path|pathext|home|user|logname|shell|term|lang|lc_all|tz|tmpdir|temp|tmp|appdata|localappdata|programdata|programfiles.*|systemroot|systemdrive|windir|userprofile|username|homedrive|homepath|https?_proxy|no_proxy|node_extra_ca_certs)$/i;

const inherited = (env: Environment): Readonly<Record<string, string>> =>
  Object.fromEntries(Object.entries(env).flatMap(([name, value]) => (value !== undefined && INHERITED.test(name) ? [[name, value]] : [])));

const RESERVED = ["gitlab", "meta"];

function toName(key: string): string {
  const name = key
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, "_")
    .replace(/^_+|_+$/g, "")
    .slice(0, 24);
  if (!/^[a-z]/.test(name)) throw new SettingsError(`--upstreams: ${shown(key)} is not a name; it must begin with a letter`);
  if (RESERVED.includes(name)) throw new SettingsError(`--upstreams: the name ${shown(key)} is taken; the nearest is "${name}_2"`);
  return name;
}

function toLink(key: string, entry: Entry, env: Environment): UpstreamConfig["link"] {
  const fill = (text: string, part: string) => substitute(text, env, `${key}.${part}`);
  const fillAll = (values: Readonly<Record<string, string>> = {}, part: string) =>
    Object.fromEntries(Object.entries(values).map(([name, text]) => [name, fill(text, `${part}.${name}`)]));
  if ((entry.command === undefined) === (entry.url === undefined))
    throw new SettingsError(`--upstreams: ${key} needs either command or url${entry.url === undefined ? "" : ", not both"}`);
  if (entry.command !== undefined) {
    if (entry.type !== undefined && entry.type !== "stdio")
      throw new SettingsError(`--upstreams: ${key} has a command; its type is "stdio"`);
    return {
      kind: "stdio",
      command: fill(entry.command, "command"),
      args: (entry.args ?? []).map((text) => fill(text, "args")),
      env: { ...inherited(env), ...fillAll(entry.env, "env") },
      ...(entry.cwd === undefined ? {} : { cwd: fill(entry.cwd, "cwd") }),
    };
  }
  const url = fill(entry.url ?? "", "url");
  if (!URL.canParse(url) || !/^https?:$/.test(new URL(url).protocol))
    throw new SettingsError(`--upstreams: ${key}.url is not an http:// or https:// address`);
  if (entry.type === "stdio") throw new SettingsError(`--upstreams: ${key} has a url; the nearest type is "http"`);
  return { kind: entry.type === "sse" ? "sse" : "http", url, headers: fillAll(entry.headers, "headers") };
}

const effects = (said: Entry["effect"]): UpstreamConfig["effect"] =>
  said === undefined ? [] : typeof said === "string" ? [["*", said]] : Object.entries(said);

function toToolsetName(key: string, upstream: string): string {
  if (/^[a-z][a-z0-9_]{0,39}$/.test(key)) return key;
  throw new SettingsError(`--upstreams: ${upstream}.toolsets: ${shown(key)} is not a name of a toolset; it may hold a-z, 0-9 and _`);
}

const toConfig = (key: string, entry: Entry, env: Environment): UpstreamConfig => ({
  name: toName(key),
  link: toLink(key, entry, env),
  toolsets: Object.fromEntries(Object.entries(entry.toolsets ?? {}).map(([name, tools]) => [toToolsetName(name, key), tools])),
  prefix: entry.prefix ?? "",
  include: entry.include ?? [],
  exclude: entry.exclude ?? [],
  effect: effects(entry.effect),
  trust: entry.trust ?? true,
  sessionMode: entry.sessionMode ?? "auto",
  forwardHeaders: (entry.forwardHeaders ?? []).map((name) => name.toLowerCase()),
  timeout: entry.timeout ?? 60_000,
  grace: (entry.graceSeconds ?? 300) * 1_000,
});

/**
 * The upstreams of a parsed file, placeholders filled in.
 * @throws SettingsError at the first thing that is wrong, with the nearest that would be right.
 */
export function readUpstreams(value: unknown, env: Environment): readonly UpstreamConfig[] {
  const { mcpServers } = check(value);
  const seen = new Map<string, string>();
  return Object.entries(mcpServers).flatMap(([key, entry]) => {
    if (entry.disabled) return [];
    const config = toConfig(key, entry, env);
    const other = seen.get(config.name);
    if (other !== undefined) throw new SettingsError(`--upstreams: ${shown(other)} and ${shown(key)} are the same name here; rename one`);
    seen.set(config.name, key);
    return [config];
  });
}

/** Values of an upstream that no message may show. */
export const secretsOf = ({ link }: UpstreamConfig): readonly string[] =>
  link.kind === "stdio"
    ? Object.entries(link.env).flatMap(([name, value]) => (/token|secret|key|pass|auth|cred/i.test(name) ? [value] : []))
    : Object.values(link.headers).flatMap((value) => [value, value.replace(/^\w+\s+/, "")]);
