import type { Action } from "../catalog/types.ts";
import { BridgeError } from "../errors.ts";
import { nearest } from "../nearest.ts";
import { names } from "../policy/rules.ts";
import type { Registry, Toolset } from "./registry.ts";

/** What a client wants on at connect. */
export interface Choice {
  readonly toolsets: readonly string[];
  readonly tools: readonly string[];
  readonly level: "essential" | "all";
}

/** `default` and `all` are words for sets of toolsets; `meta` comes with every choice of toolsets, `raw` only by name. */
export function chosenToolsets(registry: Registry, words: readonly string[]): readonly Toolset[] {
  if (words.length === 0) return [];
  const asked = words.map((word) => word.toLowerCase());
  return registry.toolsets().filter((toolset) => {
    if (toolset.name === "meta" || (asked.includes("all") && toolset.name !== "raw")) return true;
    if (asked.includes("default") && toolset.default) return true;
    return asked.some((word) => registry.toolset(word) === toolset);
  });
}

/** Actions that are on at connect: the chosen toolsets' (essential) ones, then the single tools; each once. */
export function atConnect(registry: Registry, choice: Choice): readonly Action[] {
  const fromToolsets = chosenToolsets(registry, choice.toolsets).flatMap((toolset) =>
    choice.level === "all" ? toolset.actions : toolset.actions.filter((action) => action.essential),
  );
  const single = choice.tools.flatMap((entry) => registry.actions().filter((action) => names(entry, action)));
  return [...new Set([...fromToolsets, ...single])];
}

/** Names of settings that the catalog does not know. */
export interface Unrecognized {
  readonly setting: string;
  readonly unrecognized: readonly string[];
  readonly nearest: readonly string[];
  readonly valid: readonly string[];
}

export interface NamedSettings {
  readonly toolsets: readonly string[];
  readonly allowToolsets: readonly string[];
  readonly tools: readonly string[];
  readonly allowTools: readonly string[];
  readonly excludeTools: readonly string[];
  /** Toolsets, where it is not said of all. */
  readonly readOnly?: boolean | readonly string[];
}

const FLAGS: Readonly<Record<keyof NamedSettings, string>> = {
  toolsets: "--toolsets",
  allowToolsets: "--allow-toolsets",
  tools: "--tools",
  allowTools: "--allow-tools",
  excludeTools: "--exclude-tools",
  readOnly: "--read-only",
};

const TOOLSET_LISTS: ReadonlySet<keyof NamedSettings> = new Set(["toolsets", "allowToolsets", "readOnly"]);

/** Every entry of the lists that means nothing: a mistyped name must stop the start, never open or close a thing in silence. */
export function unrecognizedNames(registry: Registry, settings: NamedSettings): readonly Unrecognized[] {
  const toolsetWords = () => [...registry.toolsets().map((toolset) => toolset.name), "all", "default"];
  const actionWords = () => registry.actions().flatMap((action) => [action.id, action.tool]);
  return (Object.keys(FLAGS) as (keyof NamedSettings)[]).flatMap((key) => {
    const isToolsets = TOOLSET_LISTS.has(key);
    const words = settings[key] ?? [];
    const known = (word: string) =>
      isToolsets
        ? ["all", "default"].includes(word.toLowerCase()) || registry.toolset(word) !== undefined
        : registry.actions().some((action) => names(word, action));
    const unrecognized = typeof words === "boolean" ? [] : words.filter((word) => !known(word) && !registry.mayHold(word));
    const first = unrecognized[0];
    if (first === undefined) return [];
    const valid = isToolsets ? toolsetWords() : [];
    return [{ setting: FLAGS[key], unrecognized, nearest: nearest(first, isToolsets ? toolsetWords() : actionWords()), valid }];
  });
}

/** @throws BridgeError invalid_params naming the first setting with unknown names. */
export function requireKnownNames(registry: Registry, settings: NamedSettings): void {
  const bad = unrecognizedNames(registry, settings)[0];
  if (!bad) return;
  const near = bad.nearest.length > 0 ? `; nearest: ${bad.nearest.join(", ")}` : "";
  const valid = bad.valid.length > 0 ? `; valid: ${bad.valid.join(", ")}` : "";
  throw new BridgeError(
    "invalid_params",
    `${bad.setting}: there is no ${bad.unrecognized.join(", ")}${near}${valid}`,
    "Correct the setting.",
  );
}
