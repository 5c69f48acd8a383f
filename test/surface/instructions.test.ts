import { describe, expect, it } from "vitest";
import { STYLES } from "../../src/config/values.ts";
import { ENTRY_TOOLS, entryToolsFor } from "../../src/surface/entry.ts";
import { toInstructions } from "../../src/surface/instructions.ts";
import { listTools } from "../../src/surface/list.ts";
import { connectionFor } from "../support/bridge.ts";
import { tokens } from "../support/tokens.ts";

const long = (count: number, prefix: string) => Array.from({ length: count }, (_, at) => `${prefix}/${"x".repeat(60)}-${at}`).join(",");

/** Settings that change what is on, allowed or said. */
const VARIANTS: readonly (readonly string[])[] = [
  [],
  ["--read-only"],
  ["--read-only=ci,wikis"],
  ["--safe-mode"],
  ["--confirm=off"],
  ["--split-execute"],
  ["--prefix=p_"],
  ["--enablement=strict"],
  ["--admin", "--tier=free"],
  ["--toolsets=ci", "--tools=list_issues"],
  ["--allow-toolsets=ci,work_items,wikis,releases,repository,projects"],
  ["--allow-tools=issue.*,list_pipelines"],
  ["--exclude-tools=create_issue,pipeline.*", "--deny-regex=^delete_"],
  ["--allow-projects=acme/webshop", "--allow-groups=acme"],
  ["--default-project=acme/webshop", "--capabilities=full", "--tool-hints=anthropic"],
  [
    `--allow-projects=${long(40, "group")}`,
    `--allow-groups=${long(40, "other")}`,
    "--allow-toolsets=duo_agent_platform,virtual_registries,notifications,infrastructure,environments,merge_requests",
    "--allow-tools=list_merge_requests,merge_request.approval_settings_get,issue.list,issue.get,issue.create,pipeline.list",
    "--exclude-tools=delete_project",
    "--tier=premium",
    "--prefix=a_rather_long_prefix_of_32_chars",
    `--default-project=${long(1, "group")}`,
    "--read-only=merge_requests,work_items,ci,wikis,releases",
  ],
];

const told = (flags: readonly string[], user?: string) => {
  const connection = connectionFor(...flags);
  return { connection, text: toInstructions(connection, entryToolsFor(connection), user) };
};

describe("instructions", () => {
  const actions = connectionFor().registry.actions();
  /** Words that look like a name: tools of ours, of the catalog, and ids. */
  const known = new Set([...ENTRY_TOOLS.map((tool) => tool.name), ...actions.flatMap((action) => [action.tool, action.id])]);

  for (const style of STYLES) {
    it(`${style}: ≤ 250 tokens and no tool that is not listed, whatever the settings`, () => {
      for (const [at, flags] of VARIANTS.entries()) {
        const { connection, text } = told([`--style=${style}`, ...flags], "a.user.with.a.long.name.of.64.characters");
        const { prefix } = connection.settings;
        const listed = new Set(listTools(connection).map((tool) => tool.name));
        // Limits name what the operator allows; they are no advice to call it.
        const advice = text
          .split("\n")
          .filter((line) => !line.startsWith("Only "))
          .join("\n");
        for (const word of advice.match(/[a-z][a-z0-9_.]*[a-z0-9]/g) ?? []) {
          const bare = word.startsWith(prefix) ? word.slice(prefix.length) : word;
          if (known.has(bare)) expect(listed.has(word), `variant ${at}: ${word}`).toBe(true);
        }
        expect(tokens(text), `variant ${at}`).toBeLessThanOrEqual(250);
      }
    });
  }

  it("the first line has instance, user if known, mode and current project", () => {
    const first = (flags: readonly string[], user?: string) =>
      told(["--url=https://git.example.com/root", ...flags], user).text.split("\n")[0];
    expect(first([])).toBe("GitLab at git.example.com, reads and writes.");
    expect(first(["--read-only", "--default-project=a/b"], "maria")).toBe(
      "GitLab at git.example.com, signed in as maria, read-only, current project a/b.",
    );
    expect(first(["--safe-mode"])).toContain("safe mode (writes are shown, not sent)");
    expect(first(["--read-only=ci"])).toContain("reads and writes; read-only in ci");
  });

  it("says what is withheld and whose wish it is", () => {
    expect(told([]).text).toContain("Withheld: administrators' actions, raw requests. Whoever runs this server set that");
    expect(told(["--allow-toolsets=ci"]).text).toContain("Only toolsets ci may be used.");
    expect(told(["--allow-projects=a/b", "--allow-groups=c"]).text).toContain("Only projects a/b and groups c can be reached.");
    expect(told(["--exclude-tools=create_issue", "--tier=free", "--admin", "--allow-raw"]).text).toContain(
      "Withheld: some actions, what needs more than free.",
    );
    expect(told(["--admin", "--allow-raw"]).text).not.toContain("Withheld");
    expect(told(["--allow-projects=secret/plan", "--refusal-contact=the platform team"]).text).not.toContain("secret/plan");
  });
});
