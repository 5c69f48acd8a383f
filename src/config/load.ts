import { readArguments } from "./arguments.ts";
import { type Environment, type EnvironmentValue, readEnvironment, type Transport } from "./environment.ts";
import { choices, ROWS, range, rowOf, SettingsError, shown, valueFault } from "./fault.ts";
import type { Option } from "./option.ts";
import { OPTIONS, type OptionName, type Settings } from "./options.ts";
import { toBoolean, toLines, toList } from "./values.ts";

/** Where a value comes from. */
export type SettingSource = "default" | `env ${string}` | `flag --${string}`;

export interface Loaded {
  readonly settings: Settings;
  readonly sources: Readonly<Record<OptionName, SettingSource>>;
  /** Nothing that stops the start, but something a person should know. */
  readonly warnings: readonly string[];
}

/** What was said about one option, by the strongest that said something. */
interface Given {
  readonly source: SettingSource;
  /** 3 flag, 2 own name, 1 a name brought along. */
  readonly level: number;
  readonly texts: readonly string[];
}

type AllGiven = ReadonlyMap<OptionName, Given>;
type Mutable<T> = { -readonly [K in keyof T]: T[K] };

/** How the person wrote it: `--read-only`, `GITLAB_TOKEN`. */
const label = (source: SettingSource): string => source.replace(/^(env|flag) /, "");

const refuse = (source: SettingSource, why: string): never => {
  throw new SettingsError(`${label(source)}: ${why}`);
};

function checkText(option: Option, { source, texts }: Given): void {
  const text = texts[0] ?? "";
  const shell = option === OPTIONS.tokenCommand;
  if (!shell && texts.some((one) => one.includes("${")))
    refuse(source, "still holds a placeholder that the client did not fill in; put the value there");
  const isNumber = range(option.schema) !== undefined;
  if (isNumber && !/^\s*\d+\s*$/.test(text)) refuse(source, valueFault(option, text, ""));
}

/** The raw value for the schema: words to booleans, commas to lists, choices in any case. */
function rawValue(option: Option, { source, texts }: Given): unknown {
  const text = texts[0] ?? "";
  if (option.kind === "switch") {
    const names = option.names && toBoolean(text) === undefined ? toList(texts) : [];
    if (names.length > 0 && names.every((name) => /^[a-z][a-z0-9_]{0,40}$/i.test(name))) return names;
    return toBoolean(text) ?? refuse(source, `${shown(text)} is neither true nor false; the nearest is ${label(source)}=true`);
  }
  if (option.kind === "list") {
    const items = option.lines ? toLines(texts) : toList(texts);
    return items.length > 0 ? items : refuse(source, "names nothing; leave it out or name at least one, with commas between them");
  }
  return choices(option.schema) ? text.trim().toLowerCase() : text.trim();
}

function parse(name: OptionName, given: Given): unknown {
  const option = rowOf(name);
  checkText(option, given);
  const result = option.schema.safeParse(rawValue(option, given));
  if (result.success) return result.data;
  const message = result.error.issues[0]?.message ?? "is not valid";
  return refuse(given.source, valueFault(option, given.texts.join(","), message));
}

const LIMITS: ReadonlySet<Option["group"]> = new Set(["What is allowed", "Safety"]);

/** Of two names that people bring along neither is stronger: where they say different things of a limit, one of them would be lost. */
function keepOneLimit(name: OptionName, [first, ...others]: readonly EnvironmentValue[]): void {
  const option = rowOf(name);
  if (!first || first.own || !LIMITS.has(option.group)) return;
  const meaning = (text: string) => (option.kind === "list" ? toList([text]).join() : String(toBoolean(text) ?? text.trim()).toLowerCase());
  const other = others.find(({ text }) => meaning(text) !== meaning(first.text));
  if (other) throw new SettingsError(`${first.env} and ${other.env} say two different things; keep one of them`);
}

function collect(argv: readonly string[], env: Environment, transport: Transport) {
  const flags = readArguments(argv);
  const { values, warnings } = readEnvironment(env, transport);
  const given = new Map<OptionName, Given>();
  for (const [name] of ROWS) {
    const flag = flags.get(name);
    const [first, ...others] = values.get(name) ?? [];
    if (flag) given.set(name, { source: `flag --${flag.flag}`, level: 3, texts: flag.texts });
    else if (first) given.set(name, { source: `env ${first.env}`, level: first.own ? 2 : 1, texts: [first.text] });
    if (first && !flag) keepOneLimit(name, [first, ...others]);
    const passed = others.filter((other) => other.text !== first?.text).map((other) => other.env);
    if (first && !flag) warnings.push(...passed.map((other) => `${other} is not used: ${first.env} is set`));
  }
  return { given, warnings };
}

/** Of several ways to say one thing the strongest stands; two equally strong ones stop the start. */
function keepOne(names: readonly OptionName[], given: Map<OptionName, Given>, warnings: string[]): void {
  const said = names.flatMap((name) => given.get(name) ?? []).sort((a, b) => b.level - a.level);
  const [first, second] = said;
  if (!first || !second) return;
  if (first.level === second.level)
    throw new SettingsError(`${label(first.source)} and ${label(second.source)} both give the token; keep one of them`);
  for (const name of names) {
    const other = given.get(name);
    if (!other || other === first) continue;
    given.delete(name);
    warnings.push(`${label(other.source)} is not used: ${label(first.source)} is set`);
  }
}

function keepTogether(one: OptionName, other: OptionName, given: AllGiven): void {
  const [have, missing] = given.has(one) ? [given.get(one), other] : [given.get(other), one];
  if (have && !given.has(missing)) throw new SettingsError(`${label(have.source)} needs --${rowOf(missing).flag} beside it`);
}

function keepBeside(name: OptionName, beside: OptionName, given: AllGiven): void {
  const have = given.get(name);
  if (have && !given.has(beside)) throw new SettingsError(`${label(have.source)} needs --${rowOf(beside).flag} beside it`);
}

/** What says how the live comparison is made stands beside it; what names one style for all contradicts it. */
function keepComparison(given: AllGiven): void {
  keepBeside("abLog", "ab", given);
  keepBeside("abSalt", "ab", given);
  const [comparison, style] = [given.get("ab"), given.get("style")];
  if (comparison && style)
    throw new SettingsError(`${label(comparison.source)} and ${label(style.source)} both choose the style; keep one of them`);
}

const CREDENTIALS = ["token", "tokenFile", "tokenCommand"] as const;

/** The sandbox is its own GitLab: an address or token of another one, set for every day, stays out of it. */
function keepSandboxApart(given: Map<OptionName, Given>, warnings: string[]): void {
  for (const name of ["url", ...CREDENTIALS] as const) {
    const other = given.get(name);
    if (!other) continue;
    if (other.level < 3) {
      given.delete(name);
      warnings.push(`${label(other.source)} is not used: the sandbox is on`);
    } else if (name === "url") throw new SettingsError("--url and --sandbox name two different GitLabs; keep one of them");
  }
}

function advice(settings: Settings): string[] {
  const { protocol, hostname } = new URL(settings.url);
  const loopback = /^(localhost|127\.|\[::1\])/.test(hostname);
  const hasToken = CREDENTIALS.some((name) => settings[name] !== undefined);
  return [
    ...(settings.readOnly === true && settings.safeMode ? ["--read-only wins over --safe-mode: writes are refused, not previewed"] : []),
    ...(settings.ab && settings.abLog === undefined ? ["--ab without --ab-log gives people their styles and writes nothing down"] : []),
    ...(settings.abLog !== undefined && settings.abSalt === undefined && settings.sessionKey === undefined
      ? ["--ab-log names users by other hashes after each start; --ab-salt keeps them"]
      : []),
    ...(protocol === "http:" && hasToken && !loopback ? ["--url is http://: the token travels unencrypted"] : []),
  ];
}

function settle(given: AllGiven, transport: Transport): Pick<Loaded, "settings" | "sources"> {
  const settings: Record<string, unknown> = {};
  const sources: Partial<Mutable<Loaded["sources"]>> = {};
  for (const [name, option] of ROWS) {
    const said = given.get(name);
    const fallback = transport === "http" ? option.onHttp : undefined;
    const value = said ? parse(name, said) : option.schema.parse(fallback);
    settings[name] = Array.isArray(value) ? Object.freeze([...value]) : value;
    sources[name] = said?.source ?? "default";
  }
  return { settings: Object.freeze(settings) as Settings, sources: Object.freeze(sources) as Loaded["sources"] };
}

/**
 * Settings from flags, the environment and defaults, in that order of strength; parsed once and frozen. Throws a `SettingsError` at
 * the first thing that is wrong. Whether names of toolsets and actions exist is judged later, against the catalog.
 */
export function loadSettings({
  argv,
  env,
  transport,
}: {
  readonly argv: readonly string[];
  readonly env: Environment;
  readonly transport: Transport;
}): Loaded {
  const { given, warnings } = collect(argv, env, transport);
  const sandbox = given.get("sandbox");
  if (sandbox && parse("sandbox", sandbox)) keepSandboxApart(given, warnings);
  keepOne(CREDENTIALS, given, warnings);
  keepTogether("certFile", "keyFile", given);
  keepBeside("auditIdentity", "audit", given);
  keepBeside("gitlabMcpToken", "gitlabMcp", given);
  keepComparison(given);
  const loaded = settle(given, transport);
  return { ...loaded, warnings: [...warnings, ...advice(loaded.settings)] };
}
