import { describe, expect, it } from "vitest";
import { loadActions } from "../../src/catalog/load.ts";
import { TOOLSETS } from "../../src/catalog/toolsets.ts";
import type { CallContext, Source } from "../../src/catalog/types.ts";
import { BridgeError } from "../../src/errors.ts";
import { bindingOf, createRoad } from "../../src/executor/dispatch.ts";
import type { Fetch } from "../../src/executor/exchange.ts";
import { createPolicy } from "../../src/policy/policy.ts";
import { createWriteLimit } from "../../src/policy/write-limit.ts";
import { createRegistry } from "../../src/registry/registry.ts";
import { AT_HOST, HOST, roadOver } from "../support/gitlab-road.ts";
import { settingsFor } from "../support/settings.ts";

function open(...flags: string[]) {
  const sent: string[] = [];
  const settings = settingsFor(...AT_HOST, "--retries=0", ...flags);
  const fetch = (async (input: URL | string, init: RequestInit = {}) => {
    sent.push(`${init.method ?? "GET"} ${new URL(String(input)).pathname}`);
    return Response.json(init.method === "GET" ? [] : { id: 1 });
  }) as Fetch;
  const { road, source } = roadOver(fetch, settings, { writes: createWriteLimit(() => 0) });
  return { sent, road, action: (id: string) => source.actions().find((row) => row.id === id) };
}

const context = (more: Partial<CallContext> = {}): CallContext => ({
  principal: { instance: HOST },
  signal: new AbortController().signal,
  canAsk: false,
  meta: {},
  ...more,
});
const as = (id: number) => context({ principal: { instance: HOST, user: { id, username: `user-${id}` } } });

const NOTE = { name: "issue.note_create", params: { project_id: 1, issue_iid: 1, body: "x" } };
const failure = async (run: Promise<unknown>): Promise<BridgeError> => {
  const error = await run.catch((thrown: unknown) => thrown);
  expect(error).toBeInstanceOf(BridgeError);
  return error as BridgeError;
};

describe("writes on the road", () => {
  it("are counted per user; the one too many is not sent, reads go on", async () => {
    const { road, sent } = open("--max-writes-per-minute=2");
    await road.run(NOTE, as(1));
    await road.run(NOTE, as(1));
    const before = sent.length;
    expect((await failure(road.run(NOTE, as(1)))).code).toBe("rate_limited");
    expect(sent.length).toBe(before);
    await road.run({ name: "issue.list", params: { project_id: 1 } }, as(1));
    await road.run(NOTE, as(2));
    expect(sent.slice(before)).toEqual(["GET /api/v4/projects/1/issues", "POST /api/v4/projects/1/issues/1/notes"]);
  });

  it("a refused or only shown write is not counted", async () => {
    const { road } = open("--max-writes-per-minute=1", "--safe-mode");
    for (let call = 0; call < 3; call++) expect(await road.run(NOTE, as(1))).toMatchObject({ kind: "preview" });
    const asking = open("--max-writes-per-minute=1");
    for (let call = 0; call < 3; call++)
      expect((await failure(asking.road.run({ name: "branch.delete", params: { project_id: 1, branch: "x" } }, as(1)))).code).toBe(
        "confirmation_required",
      );
    await asking.road.run(NOTE, as(1));
  });
});

describe("an answer to a question", () => {
  const PARAMS = { project_id: "1", branch: "x" };

  it("is good for its call alone", async () => {
    const { road, sent, action } = open();
    const row = action("branch.delete");
    if (!row) throw new Error("no action");
    const answer = { accepted: true, binding: bindingOf(row, PARAMS, context()) };
    const other = { ...PARAMS, branch: "y" };
    expect((await failure(road.run({ name: "branch.delete", params: other }, context({ answer })))).code).toBe("confirmation_required");
    expect((await failure(road.run({ name: "branch.delete", params: PARAMS }, { ...as(9), answer }))).code).toBe("confirmation_required");
    expect(sent).toEqual([]);
    await road.run({ name: "branch.delete", params: PARAMS }, context({ answer }));
    expect(sent).toEqual(["DELETE /api/v4/projects/1/repository/branches/x"]);
  });

  it("that comes after the call was cancelled sends nothing", async () => {
    const { road, sent, action } = open();
    const row = action("branch.delete");
    if (!row) throw new Error("no action");
    const controller = new AbortController();
    controller.abort();
    const answer = { accepted: true, binding: bindingOf(row, PARAMS, context()) };
    const error = await failure(road.run({ name: "branch.delete", params: PARAMS }, context({ answer, signal: controller.signal })));
    expect(error.code).toBe("cancelled");
    expect(sent).toEqual([]);
  });

  it("nor reaches the source at all", async () => {
    let ran = 0;
    const source: Source = {
      name: "gitlab",
      toolsets: () => TOOLSETS,
      actions: loadActions,
      run: async () => {
        ran++;
        return { kind: "value", value: {} };
      },
      preview: async () => ({}),
    };
    const road = createRoad({
      registry: createRegistry([source]),
      policy: createPolicy(settingsFor()),
      facts: () => ({}),
      normalize: () => ({ instance: HOST }),
    });
    const row = loadActions().find(({ id }) => id === "branch.delete");
    if (!row) throw new Error("no action");
    const answer = { accepted: true, binding: bindingOf(row, PARAMS, context()) };
    const request = { name: "branch.delete", params: PARAMS };
    expect((await failure(road.run(request, context({ answer, signal: AbortSignal.abort() })))).code).toBe("cancelled");
    expect(ran).toBe(0);
    await road.run(request, context({ answer }));
    expect(ran).toBe(1);
  });
});
