import { readFileSync } from "node:fs";
import { BridgeError } from "../errors.ts";

export interface Lines<T> {
  readonly rows: readonly T[];
  /** 1 where the last line is not whole: whoever wrote it was interrupted. */
  readonly torn: number;
}

function readText(file: string): string {
  try {
    return readFileSync(file, "utf8");
  } catch (error) {
    const why = (error as NodeJS.ErrnoException).code ?? "unknown";
    throw new BridgeError("invalid_params", `${file} cannot be read (${why}).`, "Name what an earlier run wrote.");
  }
}

function parseLine(line: string): unknown {
  try {
    return JSON.parse(line);
  } catch {
    return undefined;
  }
}

/**
 * JSON lines, each looked at by `check`. Only the last may be torn.
 * @throws BridgeError invalid_params with file and line for any other that is wrong.
 */
export function readLines<T>(file: string, check: (value: unknown) => value is T): Lines<T> {
  const lines = readText(file).split("\n");
  const whole = lines.at(-1) === "" ? lines.slice(0, -1) : lines;
  const rows: T[] = [];
  for (const [index, line] of whole.entries()) {
    if (line.trim() === "") continue;
    const value = parseLine(line);
    if (check(value)) rows.push(value);
    else if (value === undefined && index === whole.length - 1) return { rows, torn: 1 };
    else {
      const why = value === undefined ? "is not JSON" : "is not a line of this kind";
      throw new BridgeError("invalid_params", `${file}, line ${index + 1}, ${why}.`, "Mend or remove the line; only the last may be torn.");
    }
  }
  return { rows, torn: 0 };
}
