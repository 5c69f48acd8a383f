import { describe, expect, it } from "vitest";
import { loadActions } from "../../src/catalog/load.ts";
import type { Action } from "../../src/catalog/types.ts";
import { actionSection } from "../../src/cli/reference.ts";
import { createFinder } from "../../src/discovery/find.ts";
import { createRegistry } from "../../src/registry/registry.ts";
import { genericBehaviours } from "../../src/sandbox/generic.ts";
import { toListedTool } from "../../src/surface/signature.ts";
import { connectionFor } from "../support/bridge.ts";

/** A row that the catalog does not have: what docs/adding.md promises of it must hold with no TypeScript. */
const row: Action = {
  id: "teapot.list",
  tool: "list_teapots",
  title: "List teapots",
  about: "Teapots of a project and whether they are short and stout.",
  http: ["GET", "/projects/{project_id}/teapots"],
  effect: "read",
  essential: true,
  paging: "offset",
  returns: "array",
  params: { project_id: { in: "path", type: "string", required: true }, state: { in: "query", type: "string", enum: ["full", "empty"] } },
  keywords: ["kettle"],
  toolset: "projects",
  source: "gitlab",
};

describe("an added row", () => {
  const actions = [...loadActions(), row];

  it("is resolved, listed, found and documented", () => {
    const source = { name: "gitlab", toolsets: () => connectionFor().registry.toolsets(), actions: () => actions };
    const never = () => Promise.reject(new Error("not run here"));
    const registry = createRegistry([{ ...source, run: never, preview: never }]);
    expect(registry.resolve("list_teapots")).toBe(row);
    expect(registry.toolset("projects")?.actions).toContain(row);
    expect(toListedTool(connectionFor(), row, (tool) => tool)).toMatchObject({ name: "list_teapots", annotations: { readOnlyHint: true } });
    const found = createFinder(() => actions).find("show me all kettles", { permitted: () => true });
    expect(found.results[0]?.action).toBe(row);
    expect(actionSection(row)).toContain("GET /projects/{project_id}/teapots");
  });

  it("is served by the sandbox", () => {
    const served = genericBehaviours([], actions);
    expect(served.some((behaviour) => behaviour.method === "GET" && behaviour.path.includes("teapots"))).toBe(true);
  });
});
