import { describe, expect, it } from "vitest";
import { loadActions } from "../../src/catalog/load.ts";
import type { Action, Param, Shape } from "../../src/catalog/types.ts";
import { isRaw } from "../../src/policy/call-effects.ts";
import { commandsIn } from "../../src/policy/commands.ts";
import { createPolicy } from "../../src/policy/policy.ts";
import { rawVerdict } from "../../src/policy/raw.ts";
import { settingsFor } from "../support/settings.ts";

const rows = loadActions();
const row = (id: string): Action => {
  const found = rows.find((one) => one.id === id);
  if (!found) throw new Error(`no action ${id}`);
  return found;
};
const policyWith = (...flags: string[]) => createPolicy(settingsFor(...flags));

const TEXTS = ["body", "description", "note", "summary", "text"];

/** Every way to give a text to a write: the params that hold it, nested ones too. */
function waysIn(params: Readonly<Record<string, Param | Shape>>, text: string): Record<string, unknown>[] {
  return Object.entries(params).flatMap(([name, shape]): Record<string, unknown>[] => {
    if (TEXTS.includes(name) && shape.type === "string" && (shape as Param).in !== "path") return [{ [name]: text }];
    const inner = waysIn(shape.items?.properties ?? shape.properties ?? {}, text);
    return inner.map((one) => ({ [name]: shape.items?.properties ? [one] : one }));
  });
}

const writes = rows.filter((one) => one.effect !== "read" && !isRaw(one));

describe("commands in texts", () => {
  it("are judged like the actions that do the same, in every text of every write", () => {
    const policy = policyWith("--exclude-tools=merge_request.merge", "--confirm=off", "--admin", "--allow-own-token");
    const tried = writes.flatMap((action) => waysIn(action.params, "Thanks!\n/merge\n").map((params) => [action, params] as const));
    expect(tried.length).toBeGreaterThan(60);
    for (const [action, params] of tried)
      expect([action.id, policy.callVerdict(action, params, {})]).toMatchObject([
        action.id,
        { permitted: false, reason: { rule: "ceiling", text: expect.stringMatching(/\/merge.*merge_request\.merge/) } },
      ]);
  });

  it.each<[string, string, string]>([
    ["merge_request.note_create", "/rebase", "merge_request.rebase"],
    ["merge_request.note_create", "  /approve", "merge_request.approve"],
    ["merge_request.note_create", "text\r\n/close\r\n", "merge_request.update"],
    ["merge_request.note_create", "/assign @maria", "merge_request.update"],
    ["issue.note_create", "/move acme/other", "issue.move"],
    ["issue.note_create", "/CLONE acme/other", "issue.clone"],
    ["issue.note_create", "/label ~bug", "issue.update"],
    ["issue.note_create", "/some_command_to_come", "issue.update"],
    ["issue.note_create", "/relate #2", "issue.link_create"],
    ["issue.create", "/create_merge_request x", "merge_request.create"],
    ["epic.note_create", "/close", "epic.update"],
    ["work_item.note_create", "/relate #2", "work_item.link_add"],
    ["commit.comment_add", "/tag v1", "tag.create"],
  ])("%s %j needs what %s needs", (id, text, needed) => {
    const name = row(id).params.body ? "body" : row(id).params.note ? "note" : "description";
    const verdict = policyWith(`--exclude-tools=${needed}`).callVerdict(row(id), { [name]: text }, {});
    expect(verdict).toMatchObject({ permitted: false, reason: { rule: "ceiling", setting: "--exclude-tools" } });
    expect(policyWith("--exclude-tools=branch.delete").callVerdict(row(id), { [name]: text }, {}).permitted).toBe(true);
  });

  it.each(["/usr/bin/env", "a /merge b", "`/merge`", "// merge", "/", "/shrug", "/ merge"])("%j is none", (body) => {
    expect(commandsIn(row("issue.note_create"), { body })).toEqual([]);
  });

  it.each(["```\n/merge\n```", "Try:\r\n\r\n```sh\r\n/merge\r\n```\r\n", "```\n/merge\n```\nor `x`\n```text\n\n  /close\n```"])(
    "in a block of code is none: %j",
    (body) => {
      expect(commandsIn(row("issue.note_create"), { body })).toEqual([]);
      // Nobody knows what another server makes of a text.
      expect(commandsIn({ ...row("issue.note_create"), source: "far" }, { body })).not.toEqual([]);
    },
  );

  it.each([
    "```\n/merge",
    "```\nx\n```\n/merge",
    "````\n```\n````\n/merge\n````",
    "```\nx\n``` \n/merge\n```",
    "```\nx\n   ```\n/merge\n```",
    "~~~\n```\n~~~\n/merge\n```",
    "<div>\n```\n</div>\n\n/merge\n```",
    "<!--\n```\n-->\n/merge\n```",
    ">>>\n```\n>>>\n/merge\n```",
    "---\n```\n---\n/merge\n```",
    "a ` b\n```\n/merge\n```",
    "``` a`b\n/merge\n```",
    "```\rx\r```\r/merge\r```",
    "- ```\n/merge\n  ```",
    "text ```\n/merge\n```",
  ])("is one where the block of code is not sure: %j", (body) => {
    expect(commandsIn(row("issue.note_create"), { body })).toMatchObject([{ line: "/merge" }]);
  });

  it("that destroy ask like what they do, that is told; a read takes none", () => {
    const note = row("merge_request.note_create");
    expect(policyWith().callVerdict(note, { body: "/merge" }, {})).toMatchObject({
      permitted: true,
      confirm: { rule: "confirm", text: expect.stringContaining("/merge") },
    });
    expect(policyWith("--confirm=off").callVerdict(note, { body: "/merge" }, {})).not.toHaveProperty("confirm");
    expect(commandsIn(row("search.run"), { search: "/merge", body: "/merge" })).toEqual([]);
    // Contents of files and messages of commits are no texts of that kind.
    expect(commandsIn(row("commit.create"), { commit_message: "/merge", actions: [{ content: "/merge" }] })).toEqual([]);
  });

  it("stand in requests written by hand and in tools of other servers too", () => {
    const policy = policyWith("--allow-raw", "--exclude-tools=merge_request.merge", "--confirm=off");
    const request = { method: "POST", path: "/projects/1/merge_requests/2/notes", body: { body: "/merge" } };
    expect(rawVerdict(policy, row("gitlab.rest"), request, {})).toMatchObject({ permitted: false, reason: { rule: "ceiling" } });
    const foreign: Action = {
      ...row("merge_request.note_create"),
      id: "far.note",
      tool: "far_note",
      source: "far",
      toolset: "far",
      params: {},
    };
    expect(policy.callVerdict(foreign, { noteBody: "/merge" }, {})).toMatchObject({ permitted: false, reason: { rule: "ceiling" } });
    expect(policy.callVerdict(foreign, { noteBody: "/close", content: "/merge" }, {})).toMatchObject({ permitted: true });
  });
});
