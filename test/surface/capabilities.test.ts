import { describe, expect, it } from "vitest";
import { offered } from "../../src/surface/capabilities.ts";
import { listPrompts, PROMPTS } from "../../src/surface/prompts.ts";
import { listResources, listTemplates, TEMPLATES } from "../../src/surface/resources.ts";
import { connectionFor } from "../support/bridge.ts";
import { tokens } from "../support/tokens.ts";

/** Everything that a client is told of them before it uses one. */
function shared(...flags: string[]) {
  const connection = connectionFor(...flags);
  const prompts = connection.settings.capabilities === "full" ? listPrompts(connection) : [];
  return [offered(connection.settings), listResources(), listTemplates(connection), prompts];
}
const cost = (...flags: string[]) => shared(...flags).reduce((sum: number, part) => sum + tokens(part), 0);

describe("what stands beside the tools", () => {
  it("costs ≤ 200 tokens in minimal, which is the default, and ≤ 2,000 in full", () => {
    expect(connectionFor().settings.capabilities).toBe("minimal");
    expect(cost()).toBeLessThanOrEqual(200);
    expect(cost("--capabilities=full")).toBeLessThanOrEqual(2_000);
    expect(cost("--capabilities=full")).toBeGreaterThan(cost());
  });

  it("is written down", async () => {
    await expect(`${JSON.stringify(shared("--capabilities=full"), null, 1)}\n`).toMatchFileSnapshot("__snapshots__/capabilities.json");
  });

  it("stands on reads of the catalog, and every variable is a parameter of some of them", () => {
    const { registry } = connectionFor();
    for (const { reads, uriTemplate } of TEMPLATES) {
      const actions = reads.map((id) => registry.resolve(id));
      expect(actions.every(({ effect }) => effect === "read")).toBe(true);
      for (const [, name = ""] of uriTemplate.matchAll(/\{\+?(\w+)\}/g))
        expect(
          actions.every(({ params }) => name in params),
          `${uriTemplate} ${name}`,
        ).toBe(true);
    }
    for (const { needs, reads, name } of PROMPTS) {
      expect(needs.every((id) => registry.resolve(id).effect === "read")).toBe(true);
      const used = reads({ project: "p", merge_request_iid: "1", milestone: "m" });
      expect([...new Set(used.map(({ action }) => action))].sort(), name).toEqual([...needs].sort());
      for (const { action, params } of used)
        for (const param of Object.keys(params).filter((word) => word !== "limit"))
          expect(registry.resolve(action).params, `${name} ${action}`).toHaveProperty(param);
    }
  });

  it("what needs a withheld action is not listed, one action at a time", () => {
    const ids = [...new Set([...TEMPLATES.flatMap(({ reads }) => reads), ...PROMPTS.flatMap(({ needs }) => needs)])];
    for (const id of ids) {
      const connection = connectionFor("--capabilities=full", `--exclude-tools=${id}`);
      const templates = TEMPLATES.filter(({ reads }) => !reads.includes(id)).map(({ uriTemplate }) => uriTemplate);
      expect(
        listTemplates(connection).map(({ uriTemplate }) => uriTemplate),
        id,
      ).toEqual(["gitlab://tools/{id}", ...templates]);
      expect(
        listPrompts(connection).map(({ name }) => name),
        id,
      ).toEqual(PROMPTS.filter(({ needs }) => !needs.includes(id)).map(({ name }) => name));
    }
  });

  it("a prompt's words name no action that is withheld", () => {
    for (const { ask, name } of PROMPTS) {
      expect(
        ask({ project: "p", merge_request_iid: "1", milestone: "m" }, () => false),
        name,
      ).not.toMatch(/\baction [a-z_]+\.[a-z_]+/);
      expect(
        ask({ project: "p", merge_request_iid: "1", milestone: "m" }, () => true),
        name,
      ).toMatch(name === "plan_milestone" ? /issue\.update/ : /\./);
    }
  });

  it("a current project makes the argument optional", () => {
    const required = (...flags: string[]) =>
      listPrompts(connectionFor("--capabilities=full", ...flags)).map((row) => (row.arguments as { required?: boolean }[])[0]?.required);
    expect(new Set(required())).toEqual(new Set([true]));
    expect(new Set(required("--default-project=acme/webshop"))).toEqual(new Set([undefined]));
  });
});
