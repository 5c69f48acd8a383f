import { describe, expect, test } from "vitest";
import { loadActions } from "../../src/catalog/load.ts";
import { TOOLSETS } from "../../src/catalog/toolsets.ts";
import { expectBites, expectKept, type Law } from "./law.ts";

/** Verbs that ids end (or begin) with and tool names begin with. A new one is a decision: it must be a word that people say. */
const VERBS = `accept activate add apply approve archive assign attach award ban batch block cancel check cherry clone compare complete
    confirm convert create deactivate delete deny detach disable dismiss done download draft edit enable erase explain export find flag
    follow fork get identify import index keep link lint list lock mark merge move pause pick play promote protect publish purge rebase
    refresh reject remove render reorder repair request resend reset resolve restore resume retry revert review revoke rollback rollout
    rotate run scan search seed set share show snooze star start stop subscribe sync take test transfer trigger unapprove unarchive
    unassign unban unblock unfollow unlink unlock unprotect unshare unsnooze unstar unsubscribe update upload verify wait`.split(/\s+/);

/** Ids whose last part holds no verb, and why. */
const NOUN_IDS: Readonly<Record<string, string>> = {
  "gitlab.rest": "the verb is what the caller writes",
  "gitlab.graphql": "the verb is what the caller writes",
  "merge_request.overview": "made of several reads; no verb of GitLab's says it",
};

const WORDS = "[a-z0-9]+(?:_[a-z0-9]+)*";
const ID = new RegExp(`^${WORDS}\\.${WORDS}$`);
const TOOL = new RegExp(`^${WORDS}$`);

const repeated = (names: readonly string[]) => names.filter((name, index) => names.indexOf(name) !== index);

const idForm: Law = (rows) =>
  rows.flatMap(({ id }) => {
    if (!ID.test(id)) return [`${id}: not domain.verb or domain.noun_verb`];
    const words = (id.split(".")[1] ?? "").replace(/_all$/, "").split("_");
    const verbal = [words[0], words.at(-1)].some((word) => word !== undefined && VERBS.includes(word));
    return verbal || id in NOUN_IDS ? [] : [`${id}: no known verb`];
  });

const uniqueIds: Law = (rows) => repeated(rows.map(({ id }) => id)).map((id) => `${id}: twice`);

const toolNames: Law = (rows) => [
  ...rows.flatMap(({ tool }) => {
    const first = tool.split("_")[0] ?? "";
    return [
      ...(TOOL.test(tool) ? [] : [`${tool}: only a-z, 0-9 and single _`]),
      ...(tool.length <= 32 ? [] : [`${tool}: longer than 32`]),
      ...(VERBS.includes(first) ? [] : [`${tool}: begins with no verb`]),
    ];
  }),
  ...repeated(rows.map(({ tool }) => tool)).map((tool) => `${tool}: twice`),
];

const toolsets: Law = (rows) =>
  rows.filter(({ toolset }) => !TOOLSETS.some(({ name }) => name === toolset)).map(({ id, toolset }) => `${id}: no toolset ${toolset}`);

/** An alias leads to one action, and never away from what a canonical id or tool name says. */
const aliases: Law = (rows) => {
  const canonical = new Map(rows.flatMap((row) => [[row.id, row.id] as const, [row.tool, row.id] as const]));
  const all = rows.flatMap((row) => (row.aliases ?? []).map((alias) => ({ alias, id: row.id })));
  return [
    ...all.filter(({ alias }) => !/^[a-z0-9_.]+$/.test(alias)).map(({ alias, id }) => `${id}: alias ${alias} has other characters`),
    ...all
      .filter(({ alias }) => canonical.has(alias))
      .map(({ alias, id }) => `${id}: alias ${alias} is the name of ${canonical.get(alias)}`),
    ...repeated(all.map(({ alias }) => alias)).map((alias) => `alias ${alias}: of more than one action`),
  ];
};

const next: Law = (rows) =>
  rows.flatMap((row) =>
    (row.next ?? [])
      .filter((id) => id === row.id || !rows.some((other) => other.id === id))
      .map((id) => `${row.id}: next ${id} ${id === row.id ? "is itself" : "does not exist"}`),
  );

describe("names", () => {
  test("ids are domain.verb or domain.noun_verb", () => {
    expectKept(idForm);
    expectBites(idForm, { id: "getThing" }, { id: "thing.one.get" }, { id: "thing.Get" }, { id: "thing.colour" }, { id: "thing__x.get" });
  });

  test("an id is unique", () => {
    expectKept(uniqueIds);
    expectBites(uniqueIds, { id: "thing.get" });
  });

  test("tool names: verb first, at most 32 of [a-z0-9_], no double underscore, unique", () => {
    expectKept(toolNames);
    expectBites(toolNames, { tool: "get_thing" }, { tool: "getThing" }, { tool: "get__thing" }, { tool: "thing_get" });
    expectBites(toolNames, { tool: `get_${"x".repeat(29)}` });
  });

  test("every toolset exists", () => {
    expectKept(toolsets);
    expectBites(toolsets, { toolset: "gardening" });
  });

  test("aliases are unambiguous", () => {
    expectKept(aliases);
    expectBites(
      aliases,
      { aliases: ["thing.get"] },
      { aliases: ["get_thing"] },
      { aliases: ["x.y", "x.y"] },
      { aliases: ["Pull Request"] },
    );
  });

  test("what comes next exists", () => {
    expectKept(next);
    expectBites(next, { next: ["thing.vanish"] }, { next: ["other.get"] });
  });

  test("no exception is stale", () => {
    const ids = new Set(loadActions().map(({ id }) => id));
    expect(Object.keys(NOUN_IDS).filter((id) => !ids.has(id))).toEqual([]);
    const used = new Set(loadActions().flatMap(({ id, tool }) => [...id.split(/[._]/), ...tool.split("_")]));
    expect(VERBS.filter((verb) => !used.has(verb))).toEqual([]);
  });
});
