import { afterEach, describe, expect, it } from "vitest";
import { createBridge } from "../../src/app.ts";
import type { Facts } from "../../src/catalog/types.ts";
import { createLog } from "../../src/log.ts";
import { startSandbox } from "../../src/sandbox/server.ts";
import { bareContext, createFactSource } from "../../src/surface/fact-source.ts";
import { enableToolset } from "../../src/surface/tools/enable-toolset.ts";
import { entryCall } from "../support/bridge.ts";
import { settingsFor } from "../support/settings.ts";

const KNOWN: Facts = {
  user: { id: 2, username: "maria", name: "Maria", admin: true },
  scopes: ["read_api"],
  token: 7,
  digest: "d",
  expires_at: null,
  version: "18.9.0",
  enterprise: true,
};

describe("what is known of a caller", () => {
  const context = bareContext("https://gitlab.test", { header: "PRIVATE-TOKEN", value: "one" });

  it("is nothing before it is asked for, and of one credential alone", async () => {
    let asked = 0;
    const source = createFactSource(async () => {
      asked++;
      return KNOWN;
    });
    expect(source.known(context)).toEqual({});
    expect(asked).toBe(0);
    await source.learn(context);
    expect(source.known(context)).toEqual(KNOWN);
    expect(source.known(bareContext("https://gitlab.test", { header: "PRIVATE-TOKEN", value: "two" }))).toEqual({});
    expect(source.known(bareContext("https://other.test", { header: "PRIVATE-TOKEN", value: "one" }))).toEqual({});
  });

  it("after a refusal is who it is and which GitLab; what the caller may do is unknown again, and refuses nothing", async () => {
    const source = createFactSource(async () => KNOWN);
    await source.learn(context);
    source.doubt(context);
    expect(source.known(context)).toEqual({ user: { id: 2, username: "maria", name: "Maria" }, version: "18.9.0", enterprise: true });
    // Of somebody who was never asked for there is nothing to doubt.
    const stranger = bareContext("https://gitlab.test", { header: "PRIVATE-TOKEN", value: "three" });
    source.doubt(stranger);
    expect(source.known(stranger)).toEqual({});
  });
});

describe("enabling asks GitLab what the token may do, and waits for it so long and no longer", () => {
  let close: () => Promise<void> = async () => {};
  afterEach(() => close());

  async function enable(hangs: boolean) {
    const sandbox = await startSandbox();
    close = () => sandbox.close();
    const settings = settingsFor(
      `--url=${sandbox.url}`,
      `--token=${sandbox.tokens.reader}`,
      `--identify-timeout=${hangs ? 100 : 60_000}`,
      "--settle=1",
    );
    if (hangs) sandbox.fail({ kind: "hang" });
    const connection = createBridge({ settings, log: createLog({ level: "silent" }), version: "0", cwd: "/" }).connect();
    expect(sandbox.requests).toEqual([]);
    const call = { ...entryCall(connection), context: bareContext(sandbox.url, undefined) };
    const answer = (await enableToolset.run({ toolset: "work_items" }, call)) as unknown as {
      json: { toolsets: { tools: { effect: string }[]; withheld?: { reason: string }[] }[] };
    };
    return answer.json.toolsets[0];
  }

  it("a token that only reads gets reads, and the rest is withheld with the reason", async () => {
    const entry = await enable(false);
    expect(new Set(entry?.tools.map(({ effect }) => effect))).toEqual(new Set(["read"]));
    expect(JSON.stringify(entry?.withheld)).toMatch(/the token has the scopes read_api/);
  });

  it("where GitLab hangs nothing is refused for what is not known", async () => {
    const entry = await enable(true);
    expect(entry?.tools.map(({ effect }) => effect)).toContain("write");
    expect(JSON.stringify(entry?.withheld ?? [])).not.toMatch(/scopes/);
  });
});
