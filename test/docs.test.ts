import { existsSync, readdirSync, readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { stylesPage } from "../scripts/styles-page.ts";
import { generated } from "../src/cli/docs.ts";
import { VERSION } from "../src/version.ts";

describe("generated docs", () => {
  it("equal the objects they are made from (npm run docs makes them anew)", () => {
    for (const [path, content] of generated()) expect(existsSync(path) ? readFileSync(path, "utf8") : "(missing)", path).toBe(content);
  });

  it("say of the styles what is measured", () => {
    expect(readFileSync("docs/styles.md", "utf8")).toBe(stylesPage());
  });

  it("hold no page that nothing generates any more", () => {
    const pages = readdirSync("docs/reference", { recursive: true, encoding: "utf8" }).filter((name) => /\.(md|json)$/.test(name));
    const made = [...generated().keys()].flatMap((path) =>
      path.startsWith("docs/reference/") ? [path.slice("docs/reference/".length)] : [],
    );
    expect(pages.sort()).toEqual(made.sort());
  });

  it("relative links of README and docs lead somewhere", () => {
    const pages = [
      "README.md",
      ...readdirSync("docs")
        .filter((name) => name.endsWith(".md"))
        .map((name) => `docs/${name}`),
    ];
    for (const page of pages) {
      const folder = page.includes("/") ? "docs/" : "";
      for (const [, target = ""] of readFileSync(page, "utf8").matchAll(/\]\((?!https?:|#)([^)#]+)/g))
        expect(existsSync(`${folder}${target}`), `${page} → ${target}`).toBe(true);
    }
  });

  it("the version is that of package.json", () => {
    expect(VERSION).toBe((JSON.parse(readFileSync("package.json", "utf8")) as { version: string }).version);
  });

  it("the lock file names no download address", () => {
    expect(readFileSync("package-lock.json", "utf8")).not.toMatch(/"resolved":/);
  });
});
