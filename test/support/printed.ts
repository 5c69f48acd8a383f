import { appendFileSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";

/** The directory of this run in which everything that was printed is kept; one file for each worker. */
export const PRINTED_DIR = "TEST_PRINTED_DIR";

const fixture = (name: string) =>
  JSON.parse(readFileSync(new URL(`../../fixtures/sandbox/${name}.json`, import.meta.url), "utf8")) as unknown;

/** Shorter values are words. */
const SHORTEST = 6;

/** Every secret of the seeds: tokens, and values of CI variables. */
export function secretsOfSeeds(): readonly string[] {
  const tokens = (fixture("tokens") as { value: string }[]).map(({ value }) => value);
  const tables = Object.entries(fixture("tables") as Record<string, { value?: unknown }[]>);
  const variables = tables.filter(([path]) => path.endsWith("/variables")).flatMap(([, rows]) => rows.map(({ value }) => String(value)));
  return [...tokens, ...variables].filter((secret) => secret.length >= SHORTEST);
}

/** What the sandbox makes up when it is asked for a new secret. */
const MADE = /sandbox-secret-\d+/;

/**
 * The secrets that a text holds, each with what stands around it. A rotated token begins like the old one and ends otherwise: it is
 * told once, to whoever asked for it, where the server allows that.
 */
export function secretsIn(text: string, secrets: readonly string[] = secretsOfSeeds()): readonly string[] {
  const patterns = [...secrets.map((secret) => new RegExp(`${secret.replace(/[.*+?^${}()|[\]\\]/g, "\\$&")}(?!-r\\d|[\\w-])`)), MADE];
  return patterns.flatMap((pattern) => {
    const found = pattern.exec(text);
    return found ? [text.slice(Math.max(0, found.index - 120), found.index + 80)] : [];
  });
}

/** Keeps what a process printed or answered. */
export function keepPrinted(text: string): void {
  const directory = process.env[PRINTED_DIR];
  if (directory !== undefined) appendFileSync(join(directory, `${process.pid}.txt`), `${text}\n`);
}

/** Everything that was kept in a run. */
export const readPrinted = (directory: string): readonly string[] =>
  readdirSync(directory).map((name) => readFileSync(join(directory, name), "utf8"));
