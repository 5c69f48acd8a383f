import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { type Sandbox, startSandbox } from "../../src/sandbox/server.ts";
import { type ClientKind, connectHttp, type Say, type TestClient } from "../support/clients.ts";
import { type Spawned, spawnHttp } from "../support/http.ts";

const KINDS = ["sdk1", "sdk2-legacy", "sdk2-modern-deaf"] as const satisfies readonly ClientKind[];
const ENABLEMENTS = ["auto", "session", "strict"] as const;

let sandbox: Sandbox;
let client: TestClient | undefined;
beforeAll(async () => {
  sandbox = await startSandbox();
});
afterAll(() => sandbox.close());
afterEach(async () => {
  await client?.close();
  client = undefined;
});

const asMaria = { headers: () => ({ "private-token": sandbox.tokens.maria ?? "" }) };
const serve = (...args: string[]) => spawnHttp(args, { GITLAB_URL: sandbox.url });

describe("enabling, told and seen, over HTTP", () => {
  for (const enablement of ENABLEMENTS) {
    for (const refreshes of [true, false]) {
      describe(`--enablement=${enablement}, ${refreshes ? "refreshing" : "not refreshing"}`, () => {
        let server: Spawned;
        beforeAll(async () => {
          server = await serve(`--enablement=${enablement}`, `--settle=${refreshes ? 10_000 : 1}`);
        });
        afterAll(() => server.stop());

        for (const kind of KINDS) {
          const switches = kind !== "sdk2-modern-deaf" && enablement !== "strict";
          it(`${kind}: ${switches ? "enabled and told once" : "callable"}`, async () => {
            client = await connectHttp(kind, server.url, { ...asMaria, refreshes });
            const before = (await client.list()).map((tool) => tool.name);
            const result = await client.call("enable_toolset", { toolset: "ci" });
            const [entry] = result.json.toolsets as { status: string; tools: { name: string }[] }[];
            expect({ ...result.json, status: entry?.status }).toMatchObject(
              switches
                ? {
                    status: "enabled",
                    list_changed: "sent",
                    client_refreshed: refreshes,
                    call_via: refreshes ? "tools" : "gitlab_execute_action",
                  }
                : { status: "callable", list_changed: "not_available", client_refreshed: "unknown", call_via: "gitlab_execute_action" },
            );
            expect(client.changes()).toBe(switches ? 1 : 0);
            const after = (await client.list()).map((tool) => tool.name);
            expect(after.slice(0, before.length)).toEqual(before);
            if (switches) expect(after.slice(before.length, -1)).toEqual(entry?.tools.map((tool) => tool.name));
            else expect(after).toEqual(before);
            const params = { project_id: "acme/webshop" };
            const byName = await client.call("list_pipelines", params);
            const executed = await client.call("gitlab_execute_action", { action: "pipeline.list", params });
            expect([byName.isError, byName.json]).toEqual([false, executed.json]);
            const again = await client.call("enable_toolset", { toolset: "ci" });
            expect(again.json).toMatchObject({ list_changed: switches ? "not_needed" : "not_available" });
            expect(client.changes()).toBe(switches ? 1 : 0);
          });
        }
      });
    }
  }
});

interface Row {
  readonly mode?: "flag" | "human" | "off";
  readonly confirm: boolean;
  readonly person?: Say;
  readonly gone: boolean;
  readonly asked: boolean;
}

/** Without --confirm a person is asked: over HTTP the default is `human`. */
const TABLE: readonly Row[] = [
  { confirm: true, gone: false, asked: false },
  { confirm: true, person: "accept", gone: true, asked: true },
  { confirm: true, person: "decline", gone: false, asked: true },
  { confirm: true, person: "cancel", gone: false, asked: true },
  { mode: "flag", confirm: false, gone: false, asked: false },
  { mode: "flag", confirm: true, gone: true, asked: false },
  { mode: "flag", confirm: false, person: "accept", gone: true, asked: true },
  { mode: "off", confirm: false, gone: true, asked: false },
];

describe("agreement to destructive actions, over HTTP", () => {
  const servers = new Map<string, Spawned>();
  const BRANCH = { project_id: "acme/webshop", branch: "confirm/http" };
  const api = async (method: string, path: string) => {
    const response = await fetch(`${sandbox.url}/api/v4${path}`, { method, headers: { "PRIVATE-TOKEN": sandbox.tokens.maria ?? "" } });
    await response.text();
    return response.status;
  };
  const isThere = async () => (await api("GET", "/projects/101/repository/branches/confirm%2Fhttp")) === 200;
  beforeAll(async () => {
    for (const mode of ["human", "flag", "off"]) servers.set(mode, await serve(...(mode === "human" ? [] : [`--confirm=${mode}`])));
  });
  afterAll(async () => {
    await Promise.all([...servers.values()].map((server) => server.stop()));
  });
  beforeEach(async () => {
    await api("POST", "/projects/101/repository/branches?branch=confirm%2Fhttp&ref=main");
  });

  for (const kind of KINDS) {
    for (const { mode = "human", confirm, person, gone, asked } of TABLE) {
      it(`${kind}: ${mode}, confirm: ${confirm}, person: ${person ?? "none"} → ${gone ? "done" : "refused"}`, async () => {
        client = await connectHttp(kind, servers.get(mode)?.url ?? "", { ...asMaria, ...(person ? { person } : {}) });
        const result = await client.call("gitlab_execute_action", { action: "branch.delete", params: BRANCH, confirm });
        expect(result.isError, result.text).toBe(!gone);
        if (!gone) expect(result.json).toMatchObject({ code: "confirmation_required" });
        expect(client.questions).toHaveLength(asked ? 1 : 0);
        expect(await isThere()).toBe(!gone);
      });
    }
  }
});

describe("the process", () => {
  it("ends on SIGTERM with code 0, with clients connected and streams open", async () => {
    const server = await serve();
    client = await connectHttp("sdk2-legacy", server.url, asMaria);
    await client.list();
    expect(await server.stop()).toBe(0);
    expect(server.stderr().trim().split("\n")).toHaveLength(1);
  });

  it("does not start where everybody could act with the server's token, and says what to set", async () => {
    for (const [args, says] of [
      [["--host=0.0.0.0", "--token=glpat-abcdefghijkl"], "--http-tokens"],
      [["--auth=server"], "GITLAB_TOKEN"],
      [["--http-tokens=sixteen-letters-long"], "--auth=server"],
      [["--trusted-proxies=10.0.0.0/99"], "10.0.0.0/8"],
      [["--allowed-origins=app.example.com"], "https://app.example.com"],
    ] as const) {
      await expect(serve(...args)).rejects.toThrow(new RegExp(`ended with 2: .*${says.replaceAll(".", "\\.")}`));
    }
    await expect(spawnHttp([], { YOLO_MODE: "1" })).rejects.toThrow(/ended with 2: YOLO_MODE .*--confirm=off/);
  });
});
