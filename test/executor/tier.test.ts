import { http } from "msw";
import { describe, expect, it } from "vitest";
import type { Tier } from "../../src/catalog/types.ts";
import { createPolicy } from "../../src/policy/policy.ts";
import { openRoad } from "../support/sandbox-road.ts";
import { settingsFor } from "../support/settings.ts";
import { API, action, callOf, contextOf, failureOf, json, sent, server, sourceOf, useNetwork } from "./gitlab-fixture.ts";

useNetwork();

interface World {
  readonly api?: string;
  readonly status?: number;
  readonly enterprise?: boolean;
  readonly admin?: boolean;
  readonly license?: string;
  readonly plan?: string;
}

function gitlab({ api = API, status = 403, enterprise = true, admin = false, license, plan }: World): void {
  const gone = () => json({ message: "404 Not Found" }, { status: 404 });
  server.use(
    http.get(`${api}/user`, () => json({ id: 3, username: "kim", is_admin: admin })),
    http.get(`${api}/personal_access_tokens/self`, () => json({ id: 1, scopes: ["api"] })),
    http.get(`${api}/metadata`, () => json({ version: "18.9.0", enterprise })),
    http.get(`${api}/license`, () => (license ? json({ id: 1, plan: license }) : gone())),
    http.get(`${api}/namespaces/acme`, () => json({ id: 1, full_path: "acme", ...(plan ? { plan } : {}) })),
    http.get(`${api}/namespaces/:id`, gone),
    http.get(`${api}/projects/:id`, () => json({ id: 7, path_with_namespace: "acme/deep/app" })),
    http.get(`${api}/projects/:id/issues`, () => json({ message: "no" }, { status })),
  );
}

const paid = (tier: Tier) => callOf({ ...action("issue.list"), tier }, { project_id: "7" });
const hintOf = async (tier: Tier, own: Record<string, unknown> = {}) =>
  (
    await failureOf(
      sourceOf({ retries: 0, ...own }).run(paid(tier), contextOf({ principal: { instance: String(own.url ?? "https://gitlab.test") } })),
    )
  ).hint;

const COM = "https://gitlab.com";

describe("the tier, where a paid action fails", () => {
  it.each<[string, World, Tier, string, RegExp]>([
    [
      "Community Edition",
      { enterprise: false },
      "premium",
      "",
      /^This GitLab \(Community Edition\) has Free, and issue\.list needs Premium; tell the user\. /,
    ],
    [
      "a licence that an administrator sees",
      { admin: true, license: "premium" },
      "ultimate",
      "",
      /^This GitLab has Premium, and issue\.list needs Ultimate/,
    ],
    [
      "the plan of the project's namespace on GitLab.com",
      { api: `${COM}/api/v4`, plan: "free" },
      "premium",
      COM,
      /^The namespace acme has Free, and issue\.list needs Premium/,
    ],
    ["a trial", { api: `${COM}/api/v4`, plan: "premium_trial" }, "ultimate", COM, /^The namespace acme has Premium/],
  ])("is told: %s", async (_name, world, tier, url, says) => {
    gitlab(world);
    expect(await hintOf(tier, url ? { url } : {})).toMatch(says);
  });

  it.each<[string, World, Tier, string]>([
    ["a licence that is enough", { admin: true, license: "ultimate" }, "premium", ""],
    ["a plan that is enough", { api: `${COM}/api/v4`, plan: "gold" }, "ultimate", COM],
  ])("is no longer guessed: %s", async (_name, world, tier, url) => {
    gitlab(world);
    expect(await hintOf(tier, url ? { url } : {})).not.toMatch(/tier|needs (Premium|Ultimate)/);
    gitlab({ ...world, status: 404 });
    expect(await hintOf(tier, url ? { url } : {})).not.toMatch(/tier/);
  });

  it.each<[string, World, string]>([
    ["nobody may see the licence", { license: "premium" }, ""],
    ["the plan is not shown", { api: `${COM}/api/v4` }, COM],
    ["the plan is no known one", { api: `${COM}/api/v4`, plan: "default" }, COM],
  ])("stays a guess: %s", async (_name, world, url) => {
    gitlab(world);
    expect(await hintOf("premium", url ? { url } : {})).toMatch(/GitLab may also want the premium tier/);
  });

  it("is asked for only then, once per caller, and never for what is free or fails for another reason", async () => {
    gitlab({ enterprise: false });
    const source = sourceOf({ retries: 0 });
    await failureOf(source.run(paid("free"), contextOf()));
    expect(sent).toHaveLength(1);
    await failureOf(source.run(paid("premium"), contextOf()));
    await failureOf(source.run(paid("premium"), contextOf()));
    expect(sent.filter(({ url }) => url.pathname.endsWith("/metadata"))).toHaveLength(1);
    await failureOf(source.run(paid("premium"), contextOf({ credential: { header: "PRIVATE-TOKEN", value: "of-another" } })));
    expect(sent.filter(({ url }) => url.pathname.endsWith("/metadata"))).toHaveLength(2);
    server.resetHandlers();
    gitlab({ status: 409 });
    sent.length = 0;
    await failureOf(sourceOf({ retries: 0 }).run(paid("premium"), contextOf()));
    expect(sent).toHaveLength(1);
  });

  it("is overruled by --tier, and withholds only there", async () => {
    gitlab({ admin: true, license: "free" });
    expect(await hintOf("ultimate", { tier: "premium" })).toMatch(/^This GitLab has Premium, and issue\.list needs Ultimate/);
    expect(sent).toHaveLength(1);
    const row = { ...action("issue.list"), tier: "ultimate" as const };
    for (const facts of [{}, { tier: "free" as const }, { enterprise: false }])
      expect(createPolicy(settingsFor()).permits(row, facts)).toBe(true);
    expect(createPolicy(settingsFor("--tier=premium")).permits(row, {})).toBe(false);
  });

  it("on the sandbox: licence and namespace are served", async () => {
    server.close();
    const road = await openRoad({ token: "root" });
    expect(await road.ask("/license")).toMatchObject({ plan: "ultimate" });
    expect(await road.ask("/namespaces/acme")).toMatchObject({ plan: "ultimate" });
    const error = await road.run("epic.get", { group_id: "acme", epic_iid: 99_999 }).catch((thrown: unknown) => thrown);
    expect(error).toMatchObject({ code: "not_found" });
    expect((error as { hint: string }).hint).not.toMatch(/it needs the \w+ tier/);
    await road.close();
  });
});
