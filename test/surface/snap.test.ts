import { describe, expect, it } from "vitest";
import { STYLES } from "../../src/config/values.ts";
import { entryToolsFor } from "../../src/surface/entry.ts";
import { toInstructions } from "../../src/surface/instructions.ts";
import { listTools } from "../../src/surface/list.ts";
import { connectionFor } from "../support/bridge.ts";

/** What clients see, written down: a change of any name, text, schema or annotation shows in the review. */
describe("surface", () => {
  for (const style of STYLES.filter((name) => name !== "individual")) {
    it(`style ${style}`, async () => {
      const connection = connectionFor(`--style=${style}`, ...(style === "meta" ? ["--toolsets=releases,wikis"] : []));
      const seen = { instructions: toInstructions(connection, entryToolsFor(connection)), tools: listTools(connection) };
      await expect(`${JSON.stringify(seen, null, 1)}\n`).toMatchFileSnapshot(`__snapshots__/${style}.json`);
    });
  }

  it("the split and read-only variants", async () => {
    const seen = Object.fromEntries(
      [["--split-execute"], ["--read-only"], ["--safe-mode"], ["--prefix=gl_"]].map((flags) => {
        const connection = connectionFor(...flags);
        const tools = listTools(connection).map(({ name, annotations }) => ({ name, annotations }));
        return [flags.join(" "), { instructions: toInstructions(connection, entryToolsFor(connection)), tools }];
      }),
    );
    await expect(`${JSON.stringify(seen, null, 1)}\n`).toMatchFileSnapshot("__snapshots__/variants.json");
  });

  for (const toolset of connectionFor().registry.toolsets()) {
    it(`toolset ${toolset.name}`, async () => {
      const connection = connectionFor("--style=individual", "--allow-raw", `--toolsets=${toolset.name}`);
      const lines = listTools(connection)
        .filter((tool) => tool._meta?.["com.gitlab/toolset"] === toolset.name)
        .map((tool) => JSON.stringify(tool));
      await expect(`${lines.join("\n")}\n`).toMatchFileSnapshot(`__snapshots__/toolsets/${toolset.name}.jsonl`);
    });
  }

  it("instructions name only live tools", () => {
    for (const style of STYLES) {
      const connection = connectionFor(`--style=${style}`, "--prefix=p_");
      const named = new Set(listTools(connection).map((tool) => tool.name));
      const words = toInstructions(connection, entryToolsFor(connection)).match(/\bp_[a-z_]+/g) ?? [];
      for (const word of words) expect(named.has(word), `${style}: ${word}`).toBe(true);
    }
  });
});
