import { describe, expect, it } from "vitest";
import { loadActions } from "../../src/catalog/load.ts";
import type { Action } from "../../src/catalog/types.ts";
import { BridgeError } from "../../src/errors.ts";
import { destroys } from "../../src/policy/destructive.ts";
import { mutationFields } from "../../src/policy/graphql.ts";
import { digestOf } from "../../src/policy/own-token.ts";
import { createPolicy } from "../../src/policy/policy.ts";
import { checkPath, judgeRaw, rawVerdict } from "../../src/policy/raw.ts";
import { settingsFor } from "../support/settings.ts";

const find = (id: string): Action => {
  const row = loadActions().find((one) => one.id === id);
  if (!row) throw new Error(`no ${id}`);
  return row;
};
const REST = find("gitlab.rest");
const GRAPHQL = find("gitlab.graphql");

const judged = (method: string, path: string, more: Record<string, unknown> = {}) => judgeRaw(REST, { method, path, ...more });
const effectOf = (method: string, path: string, more?: Record<string, unknown>) => judged(method, path, more).effect;
const idsOf = (method: string, path: string) => judged(method, path).rows.map(({ id }) => id);
const documentEffect = (document: string) => judgeRaw(GRAPHQL, { document }).effect;

describe("a path that the caller wrote", () => {
  it("is taken as it stands on the wire, with or without the API's root", () => {
    for (const path of ["/projects/1/issues", "/projects/a%2Fb/repository/files/src%2Fx.ts", "/users", "/projects/1/labels/type::bug"])
      expect(checkPath(path)).toBe(path);
    expect(checkPath("/api/v4/projects/1")).toBe("/projects/1");
  });

  it.each([
    "projects/1",
    "",
    "/",
    "//projects/1",
    "/projects//issues",
    "/projects/1/",
    "/projects/1?confirm=1",
    "/projects/1#x",
    "/projects/1/labels/..",
    "/projects/./1",
    "/projects/%2e%2e/1",
    "/projects/1/%2E",
    "/projects/1/%252e%252e",
    "/projects/1/files/a%2F..%2Fb",
    "/projects/1/files/a%5C..%5Cb",
    "/projects/1/%69ssues",
    "/projects/1/issue%73",
    "/projects/1/a b",
    "/projects/1/a\\b",
    "/projects/1/ü",
    "/projects/{project_id}",
    "/projects/1/%zz",
    "https://evil.example/api/v4/user",
    "/projects/1\n/issues",
    7,
    undefined,
  ])("is refused: %j", (path) => expect(() => checkPath(path)).toThrowError(BridgeError));
});

describe("a REST request that the caller wrote", () => {
  it("does what the actions do that stand for it", () => {
    expect(idsOf("GET", "/projects/a%2Fb/issues/7")).toEqual(["issue.get"]);
    expect(effectOf("DELETE", "/projects/1/issues/7/links/3")).toBe("write");
    expect(effectOf("PUT", "/projects/1/merge_requests/7/merge")).toBe("destructive");
    expect(effectOf("POST", "/markdown")).toBe("read");
    expect(judged("POST", "/projects/1/ci/lint").template).toBe("/projects/{project_id}/ci/lint");
  });

  it("is judged by its method where none does", () => {
    expect(judged("GET", "/novelties/7")).toEqual({ effect: "read", rows: [], calls: [], exact: false, template: "/novelties/7" });
    expect(effectOf("POST", "/novelties")).toBe("write");
    expect(effectOf("PATCH", "/novelties/7")).toBe("write");
    expect(effectOf("DELETE", "/novelties/7")).toBe("destructive");
  });

  it("is sent as no one else", () => {
    for (const more of [
      { query: { sudo: "root" } },
      { query: { "SUDO[]": "root" } },
      { query: { private_token: "x" } },
      { query: { access_token: "x" } },
      { body: { sudo: 1 } },
      { body: { private_token: "x" } },
    ])
      expect(() => judged("GET", "/user", more), JSON.stringify(more)).toThrowError(/cannot be given/);
    expect(effectOf("PUT", "/projects/1/integrations/x", { body: { access_token: "x" } })).toBe("write");
  });

  it("is read as GitLab reads it, with lists and objects in the names of fields", () => {
    const commits = "/projects/1/repository/commits";
    for (const query of [
      { "actions[][action]": "delete", "actions[][file_path]": "a" },
      { "actions[0][action]": "delete" },
      { force: "1" },
      { force: "T" },
    ])
      expect(effectOf("POST", commits, { query: { branch: "a", ...query } }), JSON.stringify(query)).toBe("destructive");
    expect(effectOf("POST", commits, { query: { "actions[][action]": "update", force: "0" } })).toBe("write");
    expect(effectOf("PUT", "/projects/1", { query: { "container_expiration_policy_attributes[enabled]": "true" } })).toBe("destructive");
    expect(effectOf("PATCH", "/projects/1/protected_branches/main", { query: { "allowed_to_push[][_destroy]": "1" } })).toBe("destructive");
    // What stands in query and body counts twice.
    expect(judged("POST", commits, { query: { "group_ids[]": 5 }, body: { group_ids: [6] } }).calls[0]?.params).toMatchObject({
      group_ids: [5, 6],
    });
    expect(effectOf("POST", commits, { query: { force: true }, body: { force: false } })).toBe("destructive");
    expect(effectOf("POST", commits, { query: { force: false }, body: { force: true } })).toBe("destructive");
    expect(judged("POST", commits, { query: { "group_ids[]": 5, group_ids: 7 } }).calls[0]?.params).toMatchObject({ group_ids: [5, 7] });
  });

  it("takes the worst of all that it may be", () => {
    expect(idsOf("GET", "/projects/1/members/all").sort()).toEqual(["member.all_list", "member.get"].sort());
    for (const [method, path] of [
      ["POST", "/projects/1/issues.json"],
      ["GET", "/groups/1/-/epics"],
      ["GET", "/projects/1/-/search"],
    ] as const)
      expect(idsOf(method, path), path).toHaveLength(1);
    expect(judged("POST", "/markdown.json").template).toBe("/markdown.json");
    expect(effectOf("POST", "/projects/1/repository/commits", { body: { branch: "a", force: true } })).toBe("destructive");
    expect(effectOf("POST", "/projects/1/repository/commits", { body: { branch: "a" } })).toBe("write");
  });
});

describe("a GraphQL document that the caller wrote", () => {
  it.each([
    ["{ currentUser { username } }", "read"],
    ['query { search(q: "mutation { destroyNote }") { id } }', "read"],
    ["# mutation { destroyNote { id } }\nquery { me { id } }", "read"],
    ["mutation { updateIssue(input: {}) { errors } }", "write"],
    ["# query\nmutation { updateIssue(input: {}) { errors } }", "write"],
    ["query A { a } mutation B { updateIssue(input: {}) { errors } }", "write"],
    ['"""query"""\nmutation Query { updateIssue(input: {}) { errors } }', "write"],
    ["mutation { destroyNote(input: {}) { errors } }", "destructive"],
    ["mutation { safe: projectDelete(input: {}) { errors } }", "destructive"],
    ["query A { a } mutation B { ...F } fragment F on Mutation { ... on Mutation { jobArtifactsDestroy { errors } } }", "destructive"],
    ["mutation { ...A } fragment A on Mutation { ...B } fragment B on Mutation { ...A achievementsRevoke { errors } }", "destructive"],
  ])("is what its operations are: %s", (document, effect) => {
    expect(documentEffect(document)).toBe(effect);
  });

  it.each(["subscription { x }", "not graphql {", "", "fragment F on X { a }", "query A { a } subscription B { b }"])(
    "is refused: %j",
    (document) => expect(() => documentEffect(document)).toThrowError(BridgeError),
  );

  it("is read through aliases and fragments, and names are taken apart", () => {
    expect(mutationFields("mutation { a: one { x } ...F } fragment F on Mutation { two { y } } query { three { z } }")).toEqual([
      "one",
      "two",
    ]);
    expect(["destroyNote", "workItemDelete", "achievementsRevoke", "mergeRequestAccept"].map(destroys)).toEqual([true, true, true, false]);
    expect(["mergeRequestSetLabels", "updateIssue", "createNote", "stopwatchCreate"].map(destroys)).toEqual([false, false, false, false]);
  });
});

/** What becomes of a request under these flags. */
function under(flags: readonly string[], action: Action, params: Record<string, unknown>): string {
  const policy = createPolicy(settingsFor(...flags));
  const verdict = rawVerdict(policy, action, params, {});
  if (!verdict.permitted) return `refused ${verdict.reason.rule}`;
  if (verdict.preview) return "preview";
  return verdict.confirm ? "confirm" : "sent";
}

const get = { method: "GET", path: "/projects/1/issues" };
const create = { method: "POST", path: "/projects/1/issues", body: { title: "x" } };
const remove = { method: "DELETE", path: "/projects/1/issues/7" };
const unknown = { method: "GET", path: "/novelties" };
const ask = { document: "{ currentUser { id } }" };
const change = { document: "mutation { updateNovelty(input: {}) { errors } }" };
const destroy = { document: "# query\nmutation { a: destroyNovelty(input: {}) { errors } }" };

describe("requests that the caller wrote, under every kind of limit", () => {
  it.each<[string, readonly string[], readonly string[]]>([
    ["off unless allowed", [], Array(7).fill("refused raw")],
    ["open", ["--allow-raw"], ["sent", "sent", "confirm", "sent", "sent", "sent", "confirm"]],
    ["without questions", ["--allow-raw", "--confirm=off"], Array(7).fill("sent")],
    [
      "read-only",
      ["--allow-raw", "--read-only"],
      ["sent", "refused read_only", "refused read_only", "sent", "sent", "refused read_only", "refused read_only"],
    ],
    ["safe mode", ["--allow-raw", "--safe-mode"], ["sent", "preview", "preview", "sent", "sent", "preview", "preview"]],
    [
      "an action excluded",
      ["--allow-raw", "--exclude-tools=issue.create"],
      ["sent", "refused ceiling", "confirm", "refused raw", "refused raw", "refused raw", "refused raw"],
    ],
    [
      "toolsets allowed",
      ["--allow-raw", "--allow-toolsets=raw,ci"],
      ["refused ceiling", "refused ceiling", "refused ceiling", "refused raw", "refused raw", "refused raw", "refused raw"],
    ],
    ["all toolsets allowed, which never means raw", ["--allow-raw", "--allow-toolsets=all"], Array(7).fill("refused ceiling")],
  ])("%s", (_name, flags, expected) => {
    const calls = [
      [REST, get],
      [REST, create],
      [REST, remove],
      [REST, unknown],
      [GRAPHQL, ask],
      [GRAPHQL, change],
      [GRAPHQL, destroy],
    ] as const;
    expect(calls.map(([action, params]) => under(flags, action, params))).toEqual(expected);
  });

  it("hold the rules of the action that stands for them: administrators, tiers, scopes", () => {
    const instance = { method: "GET", path: "/application/settings" };
    expect(under(["--allow-raw"], REST, instance)).toBe("refused admin");
    expect(under(["--allow-raw", "--admin"], REST, instance)).toBe("sent");
    const policy = createPolicy(settingsFor("--allow-raw"));
    const reading = (params: Record<string, unknown>) => rawVerdict(policy, REST, params, { scopes: ["read_api"] });
    expect(reading(get).permitted).toBe(true);
    expect(reading(create)).toMatchObject({ permitted: false, reason: { rule: "scopes" } });
  });

  it("cannot end the token in use, by whatever spelling", () => {
    const policy = createPolicy(settingsFor("--allow-raw", "--admin", "--confirm=off"));
    const facts = { token: 7, digest: digestOf("glpat-own-token-of-ours") };
    const rest = (method: string, path: string, more: Record<string, unknown> = {}) =>
      rawVerdict(policy, REST, { method, path, ...more }, facts);
    for (const [method, path, more] of [
      ["DELETE", "/personal_access_tokens/7"],
      ["DELETE", "/personal_access_tokens/7.json"],
      ["DELETE", "/personal_access_tokens/07"],
      ["DELETE", "/personal_access_tokens/7x"],
      ["DELETE", "/personal_access_tokens/self"],
      ["DELETE", "/projects/1/access_tokens/7"],
      ["DELETE", "/groups/1/service_accounts/2/personal_access_tokens/7"],
      ["DELETE", "/users/1/impersonation_tokens/7"],
      ["DELETE", "/admin/token", { query: { token: "glpat-own-token-of-ours" } }],
      ["POST", "/groups/1/tokens/revoke", { body: { token: " glpat-own-token-of-ours" } }],
    ] as const)
      expect(rest(method, path, more), path).toMatchObject({ permitted: false, reason: { rule: "own_token" } });
    for (const [method, path, more] of [
      ["DELETE", "/personal_access_tokens/8"],
      ["DELETE", "/personal_access_tokens/77"],
      ["DELETE", "/admin/token", { query: { token: "glpat-token-of-another" } }],
      ["GET", "/personal_access_tokens/7"],
    ] as const)
      expect(rest(method, path, more), path).toMatchObject({ permitted: true });
    const mutate = (name: string) => rawVerdict(policy, GRAPHQL, { document: `mutation { a: ${name}(input: {}) { errors } }` }, facts);
    for (const name of ["personalAccessTokenRevoke", "groupAccessTokenRotate"])
      expect(mutate(name), name).toMatchObject({ permitted: false, reason: { rule: "own_token" } });
    for (const name of ["personalAccessTokenCreate", "ciJobTokenScopeRemoveProject"])
      expect(mutate(name)).toMatchObject({ permitted: true });
    const may = createPolicy(settingsFor("--allow-raw", "--allow-own-token", "--confirm=off"));
    expect(rawVerdict(may, REST, { method: "DELETE", path: "/personal_access_tokens/7" }, facts)).toEqual({ permitted: true });
  });

  it("are listed where a read could be sent, and else not", () => {
    const listed = (...flags: string[]) => createPolicy(settingsFor(...flags)).permits(REST, {});
    expect([
      listed(),
      listed("--allow-raw"),
      listed("--allow-raw", "--read-only"),
      listed("--allow-raw", "--exclude-tools=toolset:raw"),
    ]).toEqual([false, true, true, false]);
  });
});
