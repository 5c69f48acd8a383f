import { describe, expect, test } from "vitest";
import { loadActions } from "../../src/catalog/load.ts";
import type { Action, Effect } from "../../src/catalog/types.ts";
import { isRaw } from "../../src/policy/call-effects.ts";
import { DESTRUCTIVE_WORDS, destroys } from "../../src/policy/destructive.ts";
import { READING_POSTS } from "../../src/policy/door.ts";
import { mutationFields, operationKinds } from "../../src/policy/graphql.ts";
import { aRow, expectBites, expectKept, type Law } from "./law.ts";

/** DELETE that takes back a mark, a link or something only its author sees: done again in a moment. */
const MILD_DELETES: Readonly<Record<string, string>> = {
  "merge_request.emoji_remove": "an emoji",
  "merge_request.note_emoji_remove": "an emoji",
  "issue.emoji_remove": "an emoji",
  "issue.note_emoji_remove": "an emoji",
  "epic.emoji_remove": "an emoji",
  "epic.note_emoji_remove": "an emoji",
  "snippet.emoji_remove": "an emoji",
  "snippet.note_emoji_remove": "an emoji",
  "merge_request.draft_note_delete": "one's own comment that nobody else has seen",
  "merge_request.dependency_remove": "a link; both merge requests stay",
  "issue.link_remove": "a link; both issues stay",
  "epic.child_remove": "a link; both epics stay",
  "epic.issue_remove": "a link; epic and issue stay",
  "epic.related_epic_remove": "a link; both epics stay",
  "vulnerability.issue_link_delete": "a link; vulnerability and issue stay",
};

/** Other writes that are destructive, and why. */
const DESTRUCTIVE_WRITES: Readonly<Record<string, string>> = {
  "merge_train.merge_request_add": "merges as soon as its turn comes",
  "merge_request.approvals_reset": "drops what other people decided",
  "user.deactivate": "signs a person out and takes the seat",
  "user.reject": "deletes the account of who signed up",
  "user.disable_two_factor": "takes a guard off an account",
  "enterprise_user.disable_two_factor": "takes a lock off an account",
  "project.import": "may overwrite a project",
  "project.import_remote": "may overwrite a project",
  "project.import_s3": "may overwrite a project",
  "project.import_git": "may overwrite what a project holds",
  "branch_rule.update": "empties the levels that are left out",
  "security_attribute.batch_update": "may replace what many projects carry",
  "security_scan_profile.detach": "takes a guard off projects",
  "security_policy.project_unassign": "ends policies that guard projects",
  "runner.token_reset": "ends the old token",
  "runner.token_by_value_reset": "ends the old token",
  "runner.registration_token_reset": "ends the old token",
  "runner.instance_registration_token_reset": "ends the old token",
};

const methodOf = (row: Action) => row.http?.[0];
const wordsOf = (row: Action) => (row.id.split(".")[1] ?? "").replace("merge_request", "change").split("_");
const hasDestructiveWord = (row: Action) =>
  [wordsOf(row)[0], wordsOf(row).at(-1)].some((word) => word !== undefined && word in DESTRUCTIVE_WORDS);

/** Mutations that sound worse than they are, and why. */
const MILD_MUTATIONS: Readonly<Record<string, string>> = {
  "work_item.link_remove": "a link; both work items stay",
};

/** A document reads, or its mutations say by their names what they do. */
function effectOfDocument({ id, graphql = "" }: Action): Effect {
  if (operationKinds(graphql).every((kind) => kind === "query")) return "read";
  const worse = mutationFields(graphql).some(destroys) || id in DESTRUCTIVE_WRITES;
  return worse && !(id in MILD_MUTATIONS) ? "destructive" : "write";
}

/** What DESIGN.md §5 says an action does; nothing where only its author can say (composites). */
function expectedEffect(row: Action): Effect | undefined {
  if (row.graphql !== undefined) return effectOfDocument(row);
  const method = methodOf(row);
  if (!method) return undefined;
  if (method === "GET") return "read";
  if (method === "DELETE") return row.id in MILD_DELETES ? "write" : "destructive";
  if (method === "POST" && (row.http?.[1] ?? "") in READING_POSTS) return "read";
  return hasDestructiveWord(row) || row.id in DESTRUCTIVE_WRITES ? "destructive" : "write";
}

const effects: Law = (rows) =>
  rows.flatMap((row) => {
    const expected = expectedEffect(row);
    return expected === undefined || expected === row.effect ? [] : [`${row.id}: ${row.effect}, should be ${expected}`];
  });

/** Routes of one row do the same to GitLab: one method for all of them. */
const oneMethod: Law = (rows) =>
  rows
    .filter((row) => (row.routes ?? []).some(([method]) => method !== methodOf(row)))
    .map((row) => `${row.id}: routes with different methods`);

/** Composites that write, and why several writes belong together. */
const WRITING_COMPOSITES: Readonly<Record<string, string>> = {
  "merge_request.review": "comments stand together or not at all, on lines that were checked before",
  "commit.edit": "the texts that are replaced are checked and committed against the same state",
};

/** Composites run other actions; all but the listed ones only read, and none destroys. */
const composites: Law = (rows) =>
  rows
    .filter((row) => row.composite && !isRaw(row) && row.effect !== "read" && !(row.effect === "write" && row.id in WRITING_COMPOSITES))
    .map((row) => `${row.id}: a composite that writes has to be argued for`);

/** A token that is made or renewed is delivered only as `--reveal-secrets` allows. */
const secrets: Law = (rows) =>
  rows
    .filter(
      (row) =>
        /(^|_)(tokens?|secret|pipeline_trigger)(_|\.|$)/.test(row.id) && /(^|[._])(create|rotate|reset)$/.test(row.id) && !row.secret,
    )
    .map((row) => `${row.id}: makes a secret, but is not marked`);

const made = (method: "POST" | "PUT" | "DELETE" | "GET") => [method, "/projects/{project_id}/things/{thing_id}"] as const;

describe("effects", () => {
  test("GET reads, DELETE destroys, the rest writes, but for the lists with reasons", () => {
    expectKept(effects);
    expectBites(effects, { effect: "write" }, { http: made("DELETE"), effect: "write" }, { http: made("POST"), effect: "read" });
    expectBites(effects, { id: "thing.transfer", http: made("PUT"), effect: "write" }, { http: made("PUT"), effect: "destructive" });
    expectBites(effects, { http: ["POST", "/markdown"], effect: "write" }, { http: ["PUT", "/markdown"], effect: "read" });
    expectBites(effects, { id: "issue.link_remove", http: made("DELETE"), effect: "destructive" });
  });

  test("documents read, or do what their mutations are called", () => {
    const { http: _, ...bare } = aRow();
    const row = (graphql: string, effect: Effect) => effects([{ ...bare, graphql, effect }]);
    expect(row("query { thing { id } }", "read")).toEqual([]);
    expect(row("mutation { thingUpdate { errors } }", "write")).toEqual([]);
    expect(row("mutation { a: thingDelete { errors } }", "destructive")).toEqual([]);
    expect(row("mutation { thingUpdate { errors } }", "read")).toHaveLength(1);
    expect(row("mutation { ...F } fragment F on Mutation { destroyThing { errors } }", "write")).toHaveLength(1);
    expect(row("mutation { mergeRequestSetLabels { errors } }", "destructive")).toHaveLength(1);
  });

  test("the routes of a row share their method", () => {
    expectKept(oneMethod);
    expectBites(oneMethod, { routes: [made("PUT")] });
  });

  test("composites read, but for those with a reason", () => {
    expectKept(composites);
    expectBites(composites, { id: "merge_request.review", composite: "sweep", effect: "destructive" });
    expectBites(composites, { composite: "sweep", effect: "destructive" });
  });

  test("rows that make a secret say so", () => {
    expectKept(secrets);
    expectBites(secrets, { id: "access_token.rotate", http: made("POST"), effect: "destructive" }, { id: "deploy_token.create" });
  });

  test("every exception is the exception of a living row", () => {
    const ids = new Set(loadActions().map(({ id }) => id));
    const listed = [MILD_DELETES, MILD_MUTATIONS, DESTRUCTIVE_WRITES, WRITING_COMPOSITES].flatMap((table) => Object.keys(table));
    expect(listed.filter((id) => !ids.has(id))).toEqual([]);
  });
});
