import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { loadActions } from "../../src/catalog/load.ts";
import { TOOLSETS } from "../../src/catalog/toolsets.ts";
import type { Action, CallContext, Facts, Source } from "../../src/catalog/types.ts";
import { OPTIONS, type Settings } from "../../src/config/options.ts";
import { createFinder } from "../../src/discovery/find.ts";
import { BridgeError } from "../../src/errors.ts";
import { createRoad } from "../../src/executor/dispatch.ts";
import { isRaw } from "../../src/policy/call-effects.ts";
import { type Limits, narrow, type Wishes } from "../../src/policy/narrow.ts";
import { namesToken } from "../../src/policy/own-token.ts";
import { createPolicy } from "../../src/policy/policy.ts";
import { RULE_NAMES } from "../../src/policy/rules.ts";
import { holdsGroup, holdsProject, isScoped, NOTHING_KNOWN, type Place, scopesOf } from "../../src/policy/scope.ts";
import { atConnect } from "../../src/registry/choice.ts";
import { createRegistry } from "../../src/registry/registry.ts";
import { createSession } from "../../src/registry/session.ts";
import type { Connection, Link } from "../../src/surface/connection.ts";
import { listTools, namer } from "../../src/surface/list.ts";
import { listPrompts, PROMPTS } from "../../src/surface/prompts.ts";
import { listTemplates, TEMPLATES } from "../../src/surface/resources.ts";
import { enableToolset } from "../../src/surface/tools/enable-toolset.ts";
import { gitlabFindAction } from "../../src/surface/tools/gitlab-find-action.ts";
import { minimal } from "../support/minimal.ts";
import { settingsFor } from "../support/settings.ts";

const actions = loadActions();
const byTool = new Map(actions.map((action) => [action.tool, action]));
const finder = createFinder(() => actions);
const toolsetNames = TOOLSETS.map((toolset) => toolset.name);

const entry = fc.oneof(
  fc.constantFrom(...actions.map((action) => action.id)),
  fc.constantFrom(...actions.map((action) => action.tool)),
  fc.constantFrom("delete_*", "*list*", "issue.*", "*.get", "toolset:ci", "toolset:merge_*", "*"),
);
const pattern = fc.constantFrom("^delete_", "list|get", "issue\\.", "_.{4,6}$", "[xyz]", "(merge|rebase)_request");
/** Mostly none: a scope withholds much. */
const place = fc.oneof({ weight: 3, arbitrary: fc.constant([]) }, fc.subarray(["x", "acme/webshop", "1", "7"], { minLength: 1 }));
const some = <T>(of: fc.Arbitrary<T>) => fc.array(of, { maxLength: 4 });

/** What a policy file or a connection of its own adds. */
const fileArbitrary: fc.Arbitrary<Wishes> = fc.record(
  {
    readOnly: fc.constantFrom(true, ["ci"], ["work_items", "repository"]),
    safeMode: fc.boolean(),
    admin: fc.boolean(),
    tier: fc.constantFrom("free" as const, "premium" as const),
    confirm: fc.constantFrom("flag" as const, "human" as const, "off" as const),
    revealSecrets: fc.constantFrom("never" as const, "file" as const, "result" as const),
    maxWrites: fc.integer({ min: 1, max: 100 }),
    allowToolsets: some(fc.constantFrom(...toolsetNames)),
    allowTools: some(entry),
    excludeTools: some(entry),
    denyRegex: some(pattern),
    allowProjects: place,
    allowGroups: place,
  },
  { requiredKeys: [] },
);

const flags = Object.values(OPTIONS).map((option) => `--${option.flag}`);
const base = settingsFor();
const settingsArbitrary: fc.Arbitrary<Limits> = fc
  .record({
    readOnly: fc.oneof(fc.boolean(), fc.array(fc.constantFrom(...toolsetNames, "default"), { minLength: 1, maxLength: 3 })),
    safeMode: fc.boolean(),
    admin: fc.boolean(),
    tier: fc.constantFrom(undefined, "free" as const, "premium" as const),
    confirm: fc.constantFrom("flag" as const, "human" as const, "off" as const),
    revealSecrets: fc.constantFrom("never" as const, "file" as const, "result" as const),
    maxWrites: fc.integer({ min: 1, max: 100 }),
    allowRaw: fc.boolean(),
    allowOwnToken: fc.boolean(),
    allowToolsets: some(fc.constantFrom(...toolsetNames)),
    allowTools: some(entry),
    excludeTools: some(entry),
    denyRegex: some(pattern),
    allowProjects: place,
    allowGroups: place,
    toolsets: some(fc.constantFrom(...toolsetNames, "all", "default")),
    tools: some(entry),
    style: fc.constantFrom("bridge" as const, "dynamic" as const, "static" as const, "individual" as const),
  })
  .chain((some) => fc.tuple(fc.constant({ ...base, ...some }), fc.option(fileArbitrary, { nil: undefined })))
  .map(([settings, file]) => (file ? narrow(settings, file) : settings));

const factsArbitrary: fc.Arbitrary<Facts> = fc.oneof(
  fc.constant({}),
  fc.record({
    scopes: fc.subarray(["api", "read_api", "read_user", "read_repository", "granular", "self_rotate"]),
    user: fc.record({ id: fc.constant(1), username: fc.constant("a"), admin: fc.boolean() }),
  }),
);

/** A source that records what reaches it and sends nothing. */
function recorder() {
  const ran: Action[] = [];
  const previewed: Action[] = [];
  const source: Source = {
    name: "gitlab",
    toolsets: () => TOOLSETS,
    actions: () => actions,
    run: async (call) => {
      ran.push(call.action);
      return { kind: "value", value: {} };
    },
    preview: async (call) => {
      previewed.push(call.action);
      return {};
    },
  };
  return { source, ran, previewed };
}

const context: CallContext = {
  principal: { instance: "https://gitlab.example" },
  signal: new AbortController().signal,
  canAsk: false,
  meta: {},
};
const link: Link = { era: "legacy", transport: "stdio", canTell: () => true };

function connect(settings: Settings, facts: Facts): Connection {
  const { source } = recorder();
  const registry = createRegistry([source]);
  const policy = createPolicy(settings);
  const choice = { toolsets: settings.toolsets, tools: settings.tools, level: "essential" as const };
  return {
    settings,
    policy,
    registry,
    session: createSession(() => atConnect(registry, choice).filter((action) => policy.permits(action, {})), 0),
    runner: () => Promise.reject(new Error("not run here")),
    finder: async () => finder,
    facts: { known: () => facts, learn: async () => facts },
    project: () => undefined,
    version: "0",
  };
}

const listedActions = (connection: Connection) => listTools(connection).flatMap((tool) => byTool.get(tool.name) ?? []);
const call = (connection: Connection) => ({ connection, link, context, named: namer(connection), tellListChanged: async () => {} });

describe("for any settings and facts", () => {
  it("what is listed, found and enabled is permitted", async () => {
    await fc.assert(
      fc.asyncProperty(
        settingsArbitrary,
        factsArbitrary,
        fc.constantFrom(...toolsetNames),
        fc.constantFrom("delete branch", "list issues", "merge"),
        async (settings, facts, toolset, query) => {
          const connection = connect(settings, facts);
          const permitted = (action: Action) => connection.policy.permits(action, facts);
          const unknowing = (action: Action) => connection.policy.permits(action, {});
          for (const action of listedActions(connection)) expect(unknowing(action), action.id).toBe(true);

          const before = new Set(connection.session.on());
          await enableToolset.run({ toolset, level: "all" }, call(connection));
          for (const action of connection.session.on()) if (!before.has(action)) expect(permitted(action), action.id).toBe(true);

          const found = (await gitlabFindAction.run({ query, limit: 50 }, call(connection))) as unknown as {
            json: { results: { id: string }[] };
          };
          for (const { id } of found.json.results) expect(permitted(connection.registry.resolve(id)), id).toBe(true);

          const all = { ...connection, settings: { ...settings, capabilities: "full" as const } };
          const prompts = new Set(listPrompts(all).map(({ name }) => name));
          for (const { name, needs } of PROMPTS)
            if (prompts.has(name)) for (const id of needs) expect(unknowing(connection.registry.resolve(id)), `${name} ${id}`).toBe(true);
          const templates = new Set(listTemplates(all).map(({ uriTemplate }) => uriTemplate));
          for (const { uriTemplate, reads } of TEMPLATES)
            if (templates.has(uriTemplate)) for (const id of reads) expect(unknowing(connection.registry.resolve(id)), id).toBe(true);
        },
      ),
      { numRuns: 60 },
    );
  });

  it("what reaches the source was permitted, was not to be previewed, and was agreed to", async () => {
    await fc.assert(
      fc.asyncProperty(
        settingsArbitrary,
        factsArbitrary,
        // Requests written by hand are judged by what is in them (test/policy/raw.test.ts).
        fc.constantFrom(...actions.filter((action) => !isRaw(action))),
        fc.boolean(),
        async (settings, facts, action, confirm) => {
          const { source, ran, previewed } = recorder();
          const policy = createPolicy(settings);
          const road = createRoad({
            registry: createRegistry([source]),
            policy,
            facts: () => facts,
            normalize: () => ({ instance: "https://gitlab.example" }),
          });
          const verdict = policy.verdict(action, facts);
          const outcome = await road.run({ name: action.id, params: minimal(action), confirm }, context).catch((error: unknown) => error);
          if (outcome instanceof Error && !(outcome instanceof BridgeError)) throw outcome;
          if (outcome instanceof BridgeError) {
            expect(["not_permitted", "confirmation_required"], outcome.message).toContain(outcome.code);
            expect([...RULE_NAMES, "confirm"], outcome.message).toContain(outcome.detail.rule);
            if (outcome.detail.setting !== undefined) expect(flags).toContain(outcome.detail.setting);
          }
          const agreed = verdict.permitted && (!verdict.confirm || (settings.confirm === "flag" && confirm));
          // A scope judges the places of the call as well, and a token may be the one in use: both can only refuse.
          const rule = outcome instanceof BridgeError ? outcome.detail.rule : undefined;
          const refused = (isScoped(settings) && rule === "scope") || (rule === "own_token" && namesToken(action, minimal(action)));
          expect(ran.length).toBe(verdict.permitted && !verdict.preview && agreed && !refused ? 1 : 0);
          expect(previewed.length).toBe(verdict.permitted && verdict.preview && !refused ? 1 : 0);
        },
      ),
      { numRuns: 400 },
    );
  });

  it("narrowing never adds an action", () => {
    const order = <T>(all: readonly T[], one: T) => all.indexOf(one);
    fc.assert(
      fc.property(settingsArbitrary, factsArbitrary, fileArbitrary, (settings, facts, wishes) => {
        const limits = narrow(settings, wishes);
        const [wide, tight] = [createPolicy(settings), createPolicy(limits)];
        for (const action of actions) {
          const [before, after] = [wide.verdict(action, facts), tight.verdict(action, facts)];
          if (after.permitted && !before.permitted) expect.fail(`${action.id} became possible`);
          if (!after.permitted || !before.permitted) continue;
          if (before.preview) expect(after.preview, action.id).toBeDefined();
          if (before.confirm) expect(after.confirm, action.id).toBeDefined();
        }
        const places = [{ path: "x" }, { path: "acme/webshop" }, { id: 1 }, { id: 7, path: "acme/webshop/sub" }, { path: "y" }];
        const inside = (of: Limits, holds: typeof holdsProject, at: Place) =>
          scopesOf(of).every((scope) => holds(scope, at, NOTHING_KNOWN));
        for (const at of places)
          for (const holds of [holdsProject, holdsGroup]) if (inside(limits, holds, at)) expect(inside(settings, holds, at)).toBe(true);
        expect(order(["off", "flag", "human"], limits.confirm)).toBeGreaterThanOrEqual(order(["off", "flag", "human"], settings.confirm));
        expect(order(["result", "file", "never"], limits.revealSecrets)).toBeGreaterThanOrEqual(
          order(["result", "file", "never"], settings.revealSecrets),
        );
        expect(limits.maxWrites).toBeLessThanOrEqual(settings.maxWrites);
      }),
      { numRuns: 60 },
    );
  });

  it("a wish changes nothing that it does not name, and the order of wishes does not matter to what is permitted", () => {
    fc.assert(
      fc.property(settingsArbitrary, fileArbitrary, fileArbitrary, (settings, one, other) => {
        const twice = { ...settings, readOnly: ["ci", "ci"] };
        for (const one of [settings, twice]) expect(narrow(one, {})).toEqual(one);
        const [first, second] = [narrow(narrow(settings, one), other), narrow(narrow(settings, other), one)];
        const [a, b] = [createPolicy(first), createPolicy(second)];
        for (const action of actions) expect(a.permits(action, {}), action.id).toBe(b.permits(action, {}));
      }),
      { numRuns: 20 },
    );
  });

  it("a refusal names a rule that lives and, where it names a setting, one that exists", () => {
    fc.assert(
      fc.property(settingsArbitrary, factsArbitrary, (settings, facts) => {
        const policy = createPolicy(settings);
        for (const action of actions) {
          const verdict = policy.verdict(action, facts);
          if (verdict.permitted) continue;
          expect(RULE_NAMES).toContain(verdict.reason.rule);
          if (verdict.reason.setting) expect(flags).toContain(verdict.reason.setting);
        }
      }),
      { numRuns: 30 },
    );
  });
});
