import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { type Sandbox, startSandbox } from "../../src/sandbox/server.ts";
import { type ClientKind, connectStdio, type Say, type TestClient } from "../support/clients.ts";

const BRANCH = { project_id: "acme/webshop", branch: "confirm/me" };

let sandbox: Sandbox;
let client: TestClient | undefined;
beforeEach(async () => {
  sandbox = await startSandbox();
  await api("POST", "/projects/101/repository/branches?branch=confirm%2Fme&ref=main");
});
afterEach(async () => {
  await client?.close();
  client = undefined;
  await sandbox.close();
});

async function api(method: string, path: string): Promise<number> {
  const response = await fetch(`${sandbox.url}/api/v4${path}`, { method, headers: { "PRIVATE-TOKEN": sandbox.tokens.maria } });
  await response.text();
  return response.status;
}
const isThere = async () => (await api("GET", "/projects/101/repository/branches/confirm%2Fme")) === 200;

async function connect(kind: ClientKind, flags: readonly string[], person?: Say): Promise<TestClient> {
  const env = { GITLAB_URL: sandbox.url, GITLAB_TOKEN: sandbox.tokens.maria };
  client = await connectStdio(kind, { args: flags, env, ...(person ? { person } : {}) });
  return client;
}

interface Row {
  readonly mode: "flag" | "human" | "off";
  readonly confirm: boolean;
  readonly person?: Say;
  readonly gone: boolean;
  readonly asked: boolean;
}

const TABLE: readonly Row[] = [
  { mode: "flag", confirm: false, gone: false, asked: false },
  { mode: "flag", confirm: true, gone: true, asked: false },
  { mode: "flag", confirm: false, person: "accept", gone: true, asked: true },
  { mode: "flag", confirm: false, person: "decline", gone: false, asked: true },
  { mode: "flag", confirm: true, person: "decline", gone: true, asked: false },
  { mode: "human", confirm: true, gone: false, asked: false },
  { mode: "human", confirm: true, person: "accept", gone: true, asked: true },
  { mode: "human", confirm: true, person: "decline", gone: false, asked: true },
  { mode: "human", confirm: true, person: "cancel", gone: false, asked: true },
  { mode: "off", confirm: false, gone: true, asked: false },
];

describe("agreement to destructive actions, in both eras", () => {
  for (const kind of ["sdk1", "sdk2-legacy", "sdk2-modern-deaf"] as const) {
    for (const row of TABLE) {
      it(`${kind}: --confirm=${row.mode}, confirm: ${row.confirm}, person: ${row.person ?? "none"} → ${row.gone ? "done" : "refused"}`, async () => {
        const connected = await connect(kind, [`--confirm=${row.mode}`], row.person);
        const result = await connected.call("gitlab_execute_action", { action: "branch.delete", params: BRANCH, confirm: row.confirm });
        expect(result.isError, result.text).toBe(!row.gone);
        if (!row.gone) expect(result.json).toMatchObject({ code: "confirmation_required" });
        expect(connected.questions).toHaveLength(row.asked ? 1 : 0);
        expect(await isThere()).toBe(!row.gone);
      });
    }
  }

  it("by its own name too, with confirm among the arguments", async () => {
    const connected = await connect("sdk1", []);
    expect((await connected.call("delete_branch", BRANCH)).json).toMatchObject({ code: "confirmation_required" });
    expect(await isThere()).toBe(true);
    expect((await connected.call("delete_branch", { ...BRANCH, confirm: true })).isError).toBe(false);
    expect(await isThere()).toBe(false);
  });

  it("read-only wins over safe mode and over any agreement; safe mode wins over agreement", async () => {
    const readOnly = await connect("sdk1", ["--read-only", "--safe-mode", "--confirm=off"]);
    const refused = await readOnly.call("gitlab_execute_action", { action: "branch.delete", params: BRANCH, confirm: true });
    expect(refused.json).toMatchObject({ code: "not_permitted", rule: "read_only" });
    await readOnly.close();
    const safe = await connect("sdk1", ["--safe-mode", "--confirm=off"]);
    const preview = await safe.call("gitlab_execute_action", { action: "branch.delete", params: BRANCH, confirm: true });
    expect(preview.json).toMatchObject({ preview: true, sent: false, method: "DELETE" });
    expect(await isThere()).toBe(true);
    expect(sandbox.requests.filter((request) => request.method === "DELETE")).toHaveLength(0);
  });
});
