import { existsSync, readFileSync } from "node:fs";

/** The seeds stand beside `src` in the tree and beside the built files in `dist`. */
const folder = ["./", "../", "../../"].map((up) => new URL(`${up}fixtures/sandbox/`, import.meta.url)).find((url) => existsSync(url));

/** Text of a file in `fixtures/sandbox`, by its name there. */
export function fixtureText(name: string): string {
  if (!folder) throw new Error("fixtures/sandbox is not there");
  return readFileSync(new URL(name, folder), "utf8");
}

/** A JSON file in `fixtures/sandbox`, by its name without the ending. A fresh copy each time. */
export function fixture<T>(name: string): T {
  return JSON.parse(fixtureText(`${name}.json`)) as T;
}
