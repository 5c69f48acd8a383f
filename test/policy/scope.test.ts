import { describe, expect, it } from "vitest";
import { loadActions } from "../../src/catalog/load.ts";
import { routesOf } from "../../src/catalog/route.ts";
import type { Action } from "../../src/catalog/types.ts";
import { createPolicy } from "../../src/policy/policy.ts";
import {
  holdsGroup,
  holdsProject,
  isOpen,
  type Known,
  LANDS,
  NOTHING_KNOWN,
  namedBy,
  placesIn,
  reachOf,
  standsAbove,
  WITHOUT_PROJECT,
} from "../../src/policy/scope.ts";
import { settingsFor } from "../support/settings.ts";

const actions = loadActions();
const action = (id: string): Action => {
  const found = actions.find((row) => row.id === id);
  if (!found) throw new Error(`no action ${id}`);
  return found;
};

describe("how far a route reaches", () => {
  it("is known for every route, and what is neither below a place nor told to be harmless nor filtered is open", () => {
    for (const row of actions)
      for (const route of routesOf(row)) {
        const [, template] = route;
        const reach = reachOf(row, route);
        if (reach === "project") expect(template).toMatch(/^\/projects\/\{project_id\}/);
        if (reach === "group") expect(template).toMatch(/^\/groups\/\{group_id\}/);
        if (reach === "none") expect(WITHOUT_PROJECT).toHaveProperty([template]);
        if (reach === "items") expect([row.id, row.effect, row.returns]).toEqual([row.id, "read", "array"]);
        if (row.effect !== "read" && !/^\/(projects\/\{project_id\}|groups\/\{group_id\})/.test(template))
          expect([row.id, reach]).toEqual([row.id, "open"]);
      }
  });

  it("exceptions name living templates and actions, each with its reason", () => {
    const templates = new Set(actions.flatMap((row) => routesOf(row).map(([, path]) => path)));
    for (const [template, reason] of Object.entries(WITHOUT_PROJECT)) {
      expect(templates, template).toContain(template);
      expect(reason.length).toBeGreaterThan(3);
    }
    for (const [id, names] of Object.entries(LANDS)) for (const name of names) expect(action(id).params, id).toHaveProperty(name);
  });

  it("requests written by hand are judged when they are there, GraphQL documents cannot be; tools of other servers are open", () => {
    expect([isOpen(action("gitlab.rest")), isOpen(action("gitlab.graphql"))]).toEqual([false, true]);
    expect(isOpen({ ...action("issue.list"), source: "other" })).toBe(true);
  });

  it("what is open is withheld from list, find and call as soon as there is a scope, and only then", () => {
    for (const flag of ["--allow-projects=a/b", "--allow-groups=a"]) {
      const scoped = createPolicy(settingsFor(flag, "--admin", "--allow-own-token"));
      const free = createPolicy(settingsFor("--admin", "--allow-own-token"));
      for (const row of actions) {
        const verdict = scoped.verdict(row, {});
        if (isOpen(row) && row.toolset !== "raw")
          expect(verdict).toMatchObject({ permitted: false, reason: { rule: "scope", setting: flag.split("=")[0] } });
        if (!isOpen(row)) expect([row.id, verdict.permitted]).toEqual([row.id, free.verdict(row, {}).permitted]);
      }
    }
  });
});

describe("places that a call names", () => {
  it.each([
    ["target_project_id", "project"],
    ["to_project_id", "project"],
    ["start_project", "project"],
    ["forked_from_id", "project"],
    ["project", "project"],
    ["file_template_project_id", "project"],
    ["shared_group_id", "group"],
    ["groups", "group"],
    ["group_ids", "group"],
    ["group_path", "group"],
    ["parent_group_id", "group"],
    ["namespace", "namespace"],
    ["namespace_path", "namespace"],
    ["target_namespace_id", "namespace"],
  ])("%s is a %s", (name, kind) => expect(namedBy(name)).toBe(kind));

  it.each([
    "title",
    "project_name",
    "group_access",
    "skip_groups",
    "resource_group",
    "google_cloud_project_id",
    "assignee_id",
    "namespaces_limit",
  ])("%s is none", (name) => expect(namedBy(name)).toBeUndefined());

  it("are found in lists and objects too, but not in the call's own place", () => {
    const params = {
      project_id: 1,
      target_project_id: 2,
      allowed_to_push: [{ group_id: 3 }, { user_id: 4 }],
      groups: [5, "a/b"],
      group_ids: { 0: 6 },
      title: "project_id",
    };
    expect(placesIn(params, ["project_id"])).toEqual([
      ["target_project_id", "project", "2"],
      ["group_id", "group", "3"],
      ["groups", "group", "5"],
      ["groups", "group", "a/b"],
      ["group_ids", "group", "6"],
    ]);
  });

  it("every parameter of the catalog that speaks of a project, group or namespace is judged or plainly none", () => {
    const seen = new Set<string>();
    for (const row of actions)
      for (const [name, param] of Object.entries(row.params))
        if (
          /project|group|namespace/.test(name) &&
          /_id$|_ids$|_path$/.test(name) &&
          ["string", "integer", "array"].includes(param.type) &&
          !namedBy(name)
        )
          seen.add(name);
    expect([...seen].sort()).toMatchInlineSnapshot(`
      [
        "approval_project_rule_id",
        "artifact_registry_project_id",
        "elasticsearch_namespace_ids",
        "google_cloud_artifact_registry_project_id",
        "google_cloud_project_id",
        "selective_sync_namespace_ids",
        "workload_identity_federation_project_id",
      ]
    `);
  });
});

describe("inside and outside", () => {
  const known: Known = { projects: new Map([[7, "a/seven"]]), groups: new Map([[9, "x/nine"]]) };
  const scope = { allowProjects: ["a/b", "7"], allowGroups: ["G/Sub", "9"] };

  it.each([
    [{ path: "a/b" }, true],
    [{ path: "A/B" }, true],
    [{ id: 7 }, true],
    [{ path: "a/seven" }, true],
    [{ path: "g/sub/p" }, true],
    [{ path: "g/sub/deep/p" }, true],
    [{ path: "x/nine/p" }, true],
    [{ path: "a/bb" }, false],
    [{ path: "a/b/c" }, false],
    [{ path: "g/subway/p" }, false],
    [{ path: "g/sub" }, false],
    [{ id: 8 }, false],
    [{}, false],
  ])("project %o: %s", (place, inside) => expect(holdsProject(scope, place, known)).toBe(inside));

  it.each([
    [{ path: "g/sub" }, true],
    [{ path: "g/sub/x" }, true],
    [{ id: 9 }, true],
    [{ path: "x/nine/y" }, true],
    [{ path: "g" }, false],
    [{ path: "g/subs" }, false],
    [{ path: "a" }, false],
  ])("group %o: %s", (place, inside) => expect(holdsGroup(scope, place, known)).toBe(inside));

  it("an ancestor of what is allowed stands above it; nothing else does", () => {
    for (const path of ["a", "g", "x"]) expect(standsAbove(scope, { path }, known)).toBe(true);
    for (const path of ["b", "gg", "a/b/c", ""]) expect(standsAbove(scope, { path }, known), path).toBe(false);
    expect(standsAbove({ allowProjects: ["7"], allowGroups: [] }, { path: "a" }, NOTHING_KNOWN)).toBe(false);
  });
});
