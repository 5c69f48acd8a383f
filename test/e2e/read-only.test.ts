import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type Sandbox, startSandbox } from "../../src/sandbox/server.ts";
import { initialize, spawnWire, type Wire } from "../support/wire.ts";

type Json = Record<string, unknown>;

let sandbox: Sandbox;
beforeAll(async () => {
  sandbox = await startSandbox();
});
afterAll(() => sandbox.close());

const P = { project_id: "acme/webshop" };
const COMMIT = { ...P, branch: "x", start_branch: "main", message: "x", delete_files: ["README.md"] };

/** Writes, each in every way that a client can try it. */
const WRITES: readonly (readonly [id: string, tool: string, params: Json])[] = [
  ["issue.create", "create_issue", { ...P, title: "x" }],
  ["branch.delete", "delete_branch", { ...P, branch: "main", confirm: true }],
  ["merge_request.merge", "accept_merge_request", { ...P, merge_request_iid: 42, confirm: true }],
  ["merge_request.review", "review_merge_request", { ...P, merge_request_iid: 42, summary: "x", approve: true }],
  ["commit.edit", "edit_files", { ...COMMIT, confirm: true }],
  ["work_item.create", "create_work_item", { ...P, title: "x", work_item_type_id: 1 }],
];

const RAW: readonly Json[] = [
  { action: "gitlab.rest", params: { method: "POST", path: "/projects/101/issues", body: { title: "x" } } },
  { action: "gitlab.rest", params: { method: "DELETE", path: "/projects/101/repository/branches/main" } },
  { action: "gitlab.graphql", params: { document: "# query\nmutation { updateIssue(input: {}) { errors } }" } },
];

async function open(...flags: string[]): Promise<Wire> {
  const env = { GITLAB_URL: sandbox.url, GITLAB_TOKEN: sandbox.tokens.root };
  const wire = spawnWire(["--read-only", "--safe-mode", "--confirm=off", "--allow-raw", "--capabilities=full", ...flags], env);
  await initialize(wire);
  return wire;
}

const left = () =>
  sandbox.requests.filter(
    ({ method, path, body }) => method !== "GET" && !(path === "/api/graphql" && /^\s*(query|\{)/.test(String((body as Json).query))),
  );

describe("a read-only server, whatever surface is used", () => {
  it.each([["--style=bridge"], ["--style=meta", "--toolsets=all"], ["--style=individual", "--split-execute"]])(
    "%s %s",
    async (...flags) => {
      const wire = await open(...flags);
      const call = async (name: string, args: Json) => {
        const { result, error } = await wire.request("tools/call", { name, arguments: args });
        return { refused: error !== undefined || result?.isError === true, text: JSON.stringify(result ?? error) };
      };
      try {
        for (const [id, tool, params] of WRITES)
          for (const { refused, text } of [
            await call("gitlab_execute_action", { action: id, params, confirm: true }),
            await call("gitlab_read_action", { action: id, params }),
            await call("gitlab_execute_action", { action: tool, params }),
            await call(id, params),
            await call("issues", { action: id, params, confirm: true }),
            await call("repository", { action: id, params, confirm: true }),
            await call("merge_requests", { action: id, params, confirm: true }),
          ])
            expect([id, refused], text.slice(0, 300)).toEqual([id, true]);
        const batch = await call("gitlab_execute_action", {
          action: "batch.run",
          params: { calls: WRITES.map(([action, , params]) => ({ action, params })) },
        });
        expect([...batch.text.matchAll(/error=\{code=/g)].length).toBe(WRITES.length);
        for (const raw of RAW) expect((await call("gitlab_execute_action", { ...raw, confirm: true })).text).toContain("read-only");
        const enabled = await call("enable_toolset", { toolset: "work_items,repository", level: "all" });
        expect(enabled.text).not.toMatch(/"effect":"(write|destructive)"/);
        for (const [, tool] of WRITES) expect(enabled.text).not.toContain(`"name":"${tool}"`);
        for (const uri of ["gitlab://projects/101/issues/12", "gitlab://projects/101/merge_requests/42", "gitlab://tools/branch.delete"])
          await wire.request("resources/read", { uri });
        for (const name of ["review_merge_request", "write_release_notes", "triage_issues"])
          await wire.request("prompts/get", { name, arguments: { project: "acme/webshop", merge_request_iid: "42" } });
        await wire.request("completion/complete", {
          ref: { type: "ref/prompt", name: "triage_issues" },
          argument: { name: "label", value: "b" },
        });
        expect(left()).toEqual([]);
        expect(sandbox.requests.length).toBeGreaterThan(0);
      } finally {
        wire.child.kill("SIGKILL");
      }
    },
  );
});
