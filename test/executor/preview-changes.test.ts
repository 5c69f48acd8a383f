import { describe, expect, it } from "vitest";
import type { Action, Before } from "../../src/catalog/types.ts";
import { changesOf } from "../../src/executor/preview-changes.ts";
import { MASK } from "../../src/log.ts";

type Json = Record<string, unknown>;

/** What params change of a thing, as an update of that thing. */
function told(params: Json, now: Json, before: Pick<Before, "sets" | "skips"> = {}) {
  const row = { id: "thing.update", params: Object.fromEntries(Object.keys(params).map((name) => [name, { in: "body", type: "string" }])) };
  return changesOf({ action: row as unknown as Action, params }, now, { used: new Set(), ownNames: true, ...before });
}

const MARIA = { id: 2, username: "maria", name: "Maria Lindqvist", web_url: "https://gitlab.test/maria" };
const JONAS = { id: 3, username: "jonas", name: "Jonas Weber" };

describe("what is so already", () => {
  it.each<[string, Json, Json]>([
    ["a number written as text", { weight: "5" }, { weight: 5 }],
    ["a truth written as text", { active: "true" }, { active: true }],
    ["a day, and the moment that it begins", { due_date: "2026-12-24" }, { due_date: "2026-12-24T00:00:00.000Z" }],
    ["a moment in another zone", { at: "2026-12-24T10:00:00+02:00" }, { at: "2026-12-24T08:00:00Z" }],
    ["ends of lines, and blanks at the end", { description: "one\r\ntwo\n" }, { description: "one\ntwo" }],
    [
      "nothing, in its many spellings",
      { description: "", topics: [], milestone_id: 0, assignee_ids: [0] },
      { description: null, topics: [], milestone: null, assignees: [] },
    ],
    ["a list in another order", { labels: "b,a" }, { labels: ["a", "b"] }],
    ["things by their ids", { assignee_ids: [3, 2] }, { assignees: [MARIA, JONAS] }],
    ["things by their global ids", { assignee_ids: ["gid://gitlab/User/2"] }, { assignees: [MARIA] }],
    ["things by their names", { assignee_usernames: ["maria"] }, { assignees: [MARIA] }],
    ["one thing by its id", { milestone_id: "4" }, { milestone: { id: 4, title: "1.0" } }],
    [
      "parts of an object",
      { container_expiration_policy_attributes: { enabled: true } },
      { container_expiration_policy: { enabled: true, cadence: "1d" } },
    ],
    ["parts that GraphQL spells otherwise", { protection: { allowForcePush: false } }, { protection: { allow_force_push: false } }],
    ["a setting among the properties", { channel: "x" }, { properties: { channel: "x" } }],
  ])("%s", (_what, params, now) => {
    const { changes, unchanged } = told(params, now);
    expect(changes).toEqual({});
    expect(unchanged).toHaveLength(Object.keys(params).length);
  });
});

describe("what cannot be compared", () => {
  it.each<[string, Json, Json]>([
    ["a number inside a project beside an id", { epic_iid: 3 }, { epic: { id: 47, iid: 3, title: "Checkout" } }],
    ["a switch beside a field that is no list", { remove_source_branch: true }, { source_branch: "topic" }],
    ["a setting beside a field of that name", { add_pusher: true }, { pusher: { id: 1 } }],
  ])("%s is not told", (_name, params, now) => {
    expect(told(params, now)).toEqual({ changes: {}, unchanged: [] });
  });
});

describe("what would change", () => {
  it.each<[string, Json, Json, Json]>([
    [
      "ids, with the names that are known",
      { assignee_ids: [2, 7] },
      { assignees: [MARIA, JONAS] },
      {
        assignees: {
          from: [
            { id: 2, username: "maria" },
            { id: 3, username: "jonas" },
          ],
          to: [{ id: 2, username: "maria" }, { id: 7 }],
        },
      },
    ],
    [
      "one thing",
      { milestone_id: 5 },
      { milestone: { id: 4, title: "1.0", state: "active" } },
      { milestone: { from: { id: 4, title: "1.0" }, to: { id: 5 } } },
    ],
    [
      "one thing taken away",
      { milestone_id: 0 },
      { milestone: { id: 4, title: "1.0" } },
      { milestone: { from: { id: 4, title: "1.0" }, to: null } },
    ],
    [
      "added and taken away at once",
      { add_labels: "c", remove_labels: "a" },
      { labels: ["a", "b"] },
      { labels: { from: ["a", "b"], to: ["b", "c"] } },
    ],
    ["a state by its event", { state_event: "reopen" }, { state: "closed" }, { state: { from: "closed", to: "opened" } }],
    ["a number that is nothing but a number", { position: 0 }, { position: 3 }, { position: { from: 3, to: 0 } }],
    [
      "only the parts that differ",
      { policy_attributes: { enabled: true, keep_n: 5 } },
      { policy: { enabled: true, keep_n: 10 } },
      { policy: { from: { keep_n: 10 }, to: { keep_n: 5 } } },
    ],
    ["nothing that the thing does not show", { unknown: 1, other_id: 2 }, { id: 1 }, {}],
  ])("%s", (_what, params, now, changes) => {
    expect(told(params, now).changes).toEqual(changes);
  });

  it("things that are written out are shown whole, since any part may differ", () => {
    const now = { strategies: [{ id: 1, name: "gradualRollout", parameters: { percentage: "25" } }] };
    const asked = { id: 1, name: "gradualRollout", parameters: { percentage: "50" } };
    expect(told({ strategies: [asked] }, now, { sets: { strategies: "+{strategies}" } }).changes).toEqual({
      strategies: { from: now.strategies, to: [asked] },
    });
    expect(told({ strategies: [{ id: 1, _destroy: true }] }, now, { sets: { strategies: "+{strategies}" } }).changes).toMatchObject({
      strategies: { to: [] },
    });
  });

  it("behind a mask anything may stand: it is never said to be the same", () => {
    const url = `https://${MASK}@git.example`;
    expect(told({ url, value: MASK }, { url, value: MASK })).toEqual({
      changes: { url: { from: url, to: url }, value: { from: MASK, to: MASK } },
      unchanged: [],
    });
  });

  it("what the table tells, and nothing that it leaves out", () => {
    const sets = { state: "merged", "notes.0.resolved": "{resolved}", name: "{new_name}", kind: "type {type}" };
    const now = { state: "opened", notes: [{ resolved: false }], name: "a", kind: "Issue", sha: "1" };
    expect(told({ resolved: true, type: 5, sha: "2" }, now, { sets, skips: ["sha"] }).changes).toEqual({
      state: { from: "opened", to: "merged" },
      "notes.0.resolved": { from: false, to: true },
      kind: { from: "Issue", to: "type 5" },
    });
  });
});
