import { parse } from "yaml";
import { SettingsError } from "./fault.ts";

/**
 * A JSON or YAML document as plain values.
 * @throws SettingsError naming the file when the text is neither.
 */
export function parseDocument(text: string, file: string): unknown {
  try {
    return /^\s*[[{]/.test(text) ? JSON.parse(text) : parse(text);
  } catch (error) {
    throw new SettingsError(`${file} is neither JSON nor YAML: ${(error as Error).message.split("\n")[0]}`);
  }
}
