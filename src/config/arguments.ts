import { meant, ROWS, rowOf, SettingsError, shown } from "./fault.ts";
import type { OptionName } from "./options.ts";
import { toBoolean } from "./values.ts";

const FLAGS = new Map<string, OptionName>(ROWS.map(([name, option]) => [option.flag, name]));
const SWITCHES = new Map<string, OptionName>(
  ROWS.filter(([, option]) => option.kind === "switch").map(([name, option]) => [`no-${option.flag}`, name]),
);

/** The `no-` form of a switch is offered only to those who wrote one. */
const known = (flag: string) => [...FLAGS.keys(), ...(flag.startsWith("no-") ? SWITCHES.keys() : [])].map((name) => `--${name}`);

interface Flag {
  readonly name: OptionName;
  readonly flag: string;
  /** Absent: a bare flag, the value may follow. */
  readonly value?: string;
  /** The `no-` form. */
  readonly negated?: boolean;
}

/** A stray word may be a secret that lost its flag: it is shown only where it looks like a word. */
const stray = (word: string, position: number): string => (/^[a-z][a-z-]{0,15}$/.test(word) ? `"${word}"` : `argument ${position + 1}`);

function toFlag(word: string, position: number): Flag {
  const match = /^--([^=]*)(?:=(.*))?$/s.exec(word);
  if (!match) throw new SettingsError(`${stray(word, position)} is not a flag; flags start with --, see --help`);
  const [, flag = "", value] = match;
  const name = FLAGS.get(flag);
  const negated = SWITCHES.get(flag);
  if (name) return { name, flag, ...(value === undefined ? {} : { value }) };
  if (negated && value === undefined) return { name: negated, flag, negated: true };
  if (negated) throw new SettingsError(`--${flag} takes no value; the nearest is --${flag.slice(3)}=${toBoolean(value ?? "") === false}`);
  const said = shown(`--${flag.slice(0, 40)}`).replaceAll('"', "");
  throw new SettingsError(
    `${said === "the value" ? `argument ${position + 1}` : said} is not a flag; ${meant(`--${flag}`, known(flag), "--")}`,
  );
}

export interface FlagValue {
  readonly flag: string;
  readonly texts: readonly string[];
}

/** The text of a flag, and how many arguments it took. */
function readValue(flag: Flag, next: string | undefined): { text: string; took: number } {
  const option = rowOf(flag.name);
  if (flag.negated) return { text: "false", took: 1 };
  if (flag.value !== undefined) return { text: flag.value, took: 1 };
  if (option.kind === "switch") {
    return next !== undefined && toBoolean(next) !== undefined ? { text: next, took: 2 } : { text: "true", took: 1 };
  }
  if (next === undefined || next.startsWith("--")) {
    throw new SettingsError(
      `--${flag.flag} needs a value${option.example === undefined ? "" : `; such as --${flag.flag}=${option.example}`}`,
    );
  }
  return { text: next, took: 2 };
}

const same = (a: string, b: string, isSwitch: boolean): boolean => a === b || (isSwitch && toBoolean(a) === toBoolean(b));

/** Reads `--flag value`, `--flag=value`, switches and repeated lists; anything else stops the start. */
export function readArguments(argv: readonly string[]): ReadonlyMap<OptionName, FlagValue> {
  const found = new Map<OptionName, FlagValue>();
  for (let position = 0; position < argv.length; ) {
    const flag = toFlag(argv[position] ?? "", position);
    const { text, took } = readValue(flag, argv[position + 1]);
    const option = rowOf(flag.name);
    const before = found.get(flag.name)?.texts ?? [];
    const first = before[0];
    if (option.kind !== "list" && first !== undefined && !same(first, text, option.kind === "switch")) {
      throw new SettingsError(`--${option.flag} is given twice, with different values; keep one of them`);
    }
    if (text.trim() === "") throw new SettingsError(`--${option.flag} has an empty value; leave it out or give it one`);
    found.set(flag.name, { flag: option.flag, texts: [...before, text] });
    position += took;
  }
  return found;
}
