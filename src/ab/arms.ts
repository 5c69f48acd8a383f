import { SettingsError, shown } from "../config/fault.ts";
import { nearest } from "../nearest.ts";
import type { Arm, Refresh, Who, World } from "./types.ts";

/** An arm that is this bridge, as data: a style and the flags beside it. */
interface Row extends Pick<Arm, "name" | "about" | "prefix" | "writes"> {
  readonly style: string;
  readonly flags?: readonly string[];
}

const ROWS: readonly Row[] = [
  { name: "bridge", style: "bridge", about: "Five tools: toolsets to enable, and find and execute" },
  { name: "toolsets", style: "toolsets", about: "Three tools: list, look into and enable toolsets" },
  { name: "dynamic", style: "dynamic", about: "Two tools: find and execute" },
  { name: "meta", style: "meta", about: "One dispatcher for each toolset" },
  { name: "static", style: "static", about: "The essential tools of the default toolsets up front, others to enable" },
  { name: "individual", style: "individual", about: "Every action as a tool of its own" },
  { name: "bridge-read-only", style: "bridge", flags: ["--read-only"], writes: "no", about: "bridge, nothing but reads permitted" },
  { name: "bridge-safe-mode", style: "bridge", flags: ["--safe-mode"], writes: "preview", about: "bridge, writes are shown and not sent" },
  { name: "bridge-prefix", style: "bridge", flags: ["--prefix=gl_"], prefix: "gl_", about: "bridge, every name with a prefix" },
  { name: "bridge-split", style: "bridge", flags: ["--split-execute"], about: "bridge, reads run through a tool of their own" },
  { name: "dynamic-read-only", style: "dynamic", flags: ["--read-only"], writes: "no", about: "dynamic, nothing but reads permitted" },
  {
    name: "dynamic-safe-mode",
    style: "dynamic",
    flags: ["--safe-mode"],
    writes: "preview",
    about: "dynamic, writes are shown and not sent",
  },
  { name: "dynamic-prefix", style: "dynamic", flags: ["--prefix=gl_"], prefix: "gl_", about: "dynamic, every name with a prefix" },
  { name: "dynamic-split", style: "dynamic", flags: ["--split-execute"], about: "dynamic, reads run through a tool of their own" },
];

/** The six styles: what is compared where no arms are named. */
export const STYLE_ARMS: readonly string[] = ROWS.filter((row) => row.flags === undefined).map(({ name }) => name);
export const OWN_ARMS: readonly string[] = ROWS.map(({ name }) => name);

/** The rows as command lines of this very program. */
export function ownArms(node: string, script: string): readonly Arm[] {
  return ROWS.map(({ flags = [], ...row }) => ({
    ...row,
    command: [node, script, "serve", `--style=${row.style}`, ...flags],
    // New secrets are written below the home directory: not into that of whoever runs the comparison. A host that asks for its list at
    // once is waited for as long as it takes, so that a busy machine does not make another kind of host of it.
    env: { HOME: "{SCRATCH}", GITLAB_URL: "{URL}", GITLAB_TOKEN: "{TOKEN}", GITLAB_BRIDGE_SETTLE: "{SETTLE}" },
  }));
}

/** @throws SettingsError naming the arm that there is not. */
export function armsNamed(names: readonly string[], arms: readonly Arm[]): readonly Arm[] {
  const known = arms.map(({ name }) => name);
  return [...new Set(names.includes("all") ? known : names)].map((name) => {
    const found = arms.find((arm) => arm.name === name);
    if (found) return found;
    const near = nearest(name, known)[0];
    throw new SettingsError(`There is no arm ${shown(name)}${near ? `; the nearest is "${near}"` : ""}. Arms: ${known.join(", ")}, all.`);
  });
}

/** `npx -y "a b" 'c d'` → words; quotes keep a word together, and nothing else of a shell is understood. */
function words(line: string): readonly string[] {
  const parts = line.match(/(?:"[^"]*"|'[^']*'|[^\s"'])+/g) ?? [];
  return parts.map((part) => part.replace(/"([^"]*)"|'([^']*)'/g, (_whole, double, single) => double ?? single ?? ""));
}

/** What an arm is stands in reports; where it lies on this machine does not. */
const withoutFolders = (word: string) => word.replace(/^(.*[\\/]node_modules[\\/]|(\/|[A-Za-z]:\\).*[\\/](?=[^\\/]))/, "");

/** Another server: `name=command line`. @throws SettingsError */
export function parseArm(text: string, env: Readonly<Record<string, string>>): Arm {
  const [, name, line = ""] = /^([a-z0-9][a-z0-9._-]*)=(.*)$/is.exec(text) ?? [];
  const command = words(line);
  if (name === undefined || command.length === 0)
    throw new SettingsError(`--arm takes name='command line', not ${shown(text)}; the name has letters, digits, "-", "." and "_".`);
  if (OWN_ARMS.includes(name)) throw new SettingsError(`--arm ${name}: this name is an arm of our own; choose another.`);
  return { name, command, env, about: command.map(withoutFolders).join(" ") };
}

/** What an arm may know of the machine: enough to find its programs and its own files, and nothing of whoever started the comparison. */
const NEEDED = ["PATH", "HOME", "LANG", "TMPDIR", "SystemRoot", "PATHEXT", "APPDATA", "LOCALAPPDATA", "USERPROFILE", "TEMP"];

/** For whom and where an arm is started. */
export interface Situation {
  readonly who: Who;
  readonly refresh: Refresh;
  /** The environment of whoever started the comparison. */
  readonly caller: Readonly<Record<string, string | undefined>>;
  /** An empty folder. */
  readonly scratch: string;
}

/** The whole environment of an arm's process: what every program needs, and the arm's own names with the sandbox put in. */
export function environmentOf(
  arm: Arm,
  { url, tokens }: Pick<World, "url" | "tokens">,
  { who, refresh, caller, scratch }: Situation,
): Record<string, string> {
  const settle = refresh === "at_once" ? "10000" : "500";
  const values: Readonly<Record<string, string>> = { API: `${url}/api/v4`, URL: url, TOKEN: tokens[who], SCRATCH: scratch, SETTLE: settle };
  const fill = (text: string) => text.replace(/\{(API|URL|TOKEN|SCRATCH|SETTLE)\}/g, (_whole, name: string) => values[name] ?? "");
  const needed = NEEDED.flatMap((name): [string, string][] => (caller[name] === undefined ? [] : [[name, caller[name]]]));
  return Object.fromEntries([...needed, ...Object.entries(arm.env).map(([name, value]): [string, string] => [name, fill(value)])]);
}
