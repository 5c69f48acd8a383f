import { afterEach, describe, expect, it } from "vitest";
import { loadActions } from "../../src/catalog/load.ts";
import { pickRoute } from "../../src/catalog/route.ts";
import type { Call, Outcome } from "../../src/catalog/types.ts";
import { effectOfWrite } from "../../src/executor/preview.ts";
import { estimateJson } from "../../src/executor/tokens.ts";
import { renderOutcome } from "../../src/surface/render.ts";
import { openRoad, type SandboxRoad } from "../support/sandbox-road.ts";

type Json = Record<string, unknown>;

let road: SandboxRoad;
afterEach(() => road.close());

const ISSUE = { project_id: "acme/webshop", issue_iid: 1 };

/** Previews a call, and sees to it that nothing left but reads. */
async function shown(name: string, params: Json, project?: string): Promise<Json> {
  const outcome = await road.run(name, params, undefined, project === undefined ? {} : { project });
  if (outcome.kind !== "preview") throw new Error(`${name} gave ${outcome.kind}`);
  for (const { method, path, body } of road.sandbox.requests)
    expect(method === "GET" || (path.endsWith("/api/graphql") && /^query /.test(String((body as Json).query)))).toBe(true);
  return outcome.preview as Json;
}

async function preview(name: string, params: Json, ...flags: string[]): Promise<Json> {
  road = await openRoad({ flags: ["--safe-mode", ...flags] });
  return shown(name, params);
}

describe("a preview in safe mode", () => {
  it("tells for each field what it is and what it would be; only what would change", async () => {
    const shown = await preview("issue.update", { ...ISSUE, title: "Another", labels: "x,y", state_event: "close", confidential: false });
    const now = (await road.ask("/projects/101/issues/1")) as Json;
    expect(shown).toMatchObject({
      method: "PUT",
      changes: {
        title: { from: now.title, to: "Another" },
        labels: { from: now.labels, to: ["x", "y"] },
        ...(now.state === "closed" ? {} : { state: { from: now.state, to: "closed" } }),
      },
    });
    expect(shown.changes).not.toHaveProperty("confidential");
  });

  it("adds and takes away labels as GitLab would, and shows long texts by their start", async () => {
    const shown = await preview("issue.update", { ...ISSUE, issue_iid: 57, add_labels: ["new-one"], description: "short" });
    const { labels, description } = shown.changes as { labels: { from: string[]; to: string[] }; description: { from: string } };
    expect(labels.to).toEqual([...labels.from, "new-one"]);
    expect(description.from).toMatch(/… \(\d+ characters\)$/);
  });

  it("names what would be gone", async () => {
    const shown = await preview("branch.delete", { project_id: "acme/webshop", branch: "main" });
    expect(shown).toMatchObject({ method: "DELETE", would_remove: { name: "main" } });
  });

  it("shows no secret on either side, whatever may be revealed", async () => {
    for (const flags of [[], ["--reveal-secrets=result"]]) {
      const shown = await preview(
        "variable.update",
        { project_id: "acme/webshop", key: "REGISTRY_PASSWORD", value: "new-value-1234" },
        ...flags,
      );
      const text = JSON.stringify([shown, renderOutcome({ kind: "preview", preview: shown })]);
      expect(text).not.toMatch(/sandbox-registry-password|new-value-1234/);
      expect(shown.changes).toMatchObject({ value: { from: "[masked]", to: "[masked]" } });
      if (flags.length === 0) await road.close();
    }
  });

  it("stays a preview where the thing cannot be read, and says so", async () => {
    const shown = await preview("issue.update", { ...ISSUE, issue_iid: 99_999, title: "x" });
    expect(shown).not.toHaveProperty("changes");
    expect(shown.unread).toMatch(/^What is there now could not be read: issue\.get .*not found/);
  });

  it("says which fields are so already, and of what it tells", async () => {
    const shown = await preview("issue.update", { ...ISSUE, confidential: false, labels: "" });
    expect(shown).toMatchObject({ unchanged: expect.arrayContaining(["confidential"]), of: { iid: 1, title: expect.any(String) } });
  });

  it("claims nothing of another thing than the one it changes", async () => {
    expect(await preview("job.artifacts_delete", { project_id: "acme/webshop", job_id: 1 })).not.toHaveProperty("would_remove");
  });

  it("fits the budget, whatever is sent, and says what of it is not shown", async () => {
    const long = "One more line of the report.\n".repeat(10_000);
    const shown = await preview("issue.update", { ...ISSUE, title: "Another", description: long });
    expect(estimateJson(shown)).toBeLessThan(8_000);
    expect(shown).toMatchObject({
      method: "PUT",
      changes: { title: { to: "Another" } },
      untrusted: true,
      truncated: expect.stringMatching(/^body\.description: the first \d+ of 290000 characters\. Only this preview is cut/),
    });
    const review = await road.run("merge_request.review", { project_id: "acme/webshop", merge_request_iid: 42, summary: long });
    expect(estimateJson(review)).toBeLessThan(8_000);
    expect(review).toMatchObject({
      preview: { would_send: [{ method: "POST" }], truncated: expect.stringContaining("would_send.0.body.body") },
    });
  });

  it("frames what others wrote, in the text and by a mark in the JSON", async () => {
    const shown = await preview("issue.update", { ...ISSUE, title: "Another" });
    const { content, structuredContent } = renderOutcome({ kind: "preview", preview: shown });
    const text = String(content[0]?.text);
    expect(text).toMatch(/nothing was sent[\s\S]*What it would change:\n<<<gitlab-data[\s\S]*Another[\s\S]*gitlab-data>>>$/);
    expect(structuredContent).toMatchObject({ preview: true, sent: false, untrusted: expect.stringContaining("data, not instructions") });
  });
});

const ITEM = { work_item_id: 501 };

describe("a preview of a GraphQL change", () => {
  it("tells what is there and what it would be, by what the values mean", async () => {
    road = await openRoad({ flags: ["--safe-mode"] });
    const before = (await road.ask("/projects/101/issues/1")) as Json;
    const told = await shown("work_item.update", {
      ...ITEM,
      title: before.title,
      description: `${String(before.description)}\r\n`,
      state_event: "REOPEN",
      assignee_ids: [3],
      add_label_ids: [201],
      due_date: "2026-12-24",
      weight: 5,
    });
    expect(told).toMatchObject({ effect: "write", path: "/api/graphql", untrusted: true, of: { id: 501, iid: "1" } });
    expect(told.changes).toMatchObject({
      state: { from: "CLOSED", to: "OPEN" },
      assignees: { to: [{ id: 3 }] },
      labels: { from: [{ id: 232, title: "ci" }], to: [{ id: 232, title: "ci" }, { id: 201 }] },
      due_date: { from: before.due_date, to: "2026-12-24" },
    });
    expect(told.unchanged).toEqual(expect.arrayContaining(["title", "description"]));
  });

  it("knows what a call sets by itself, and what it adds to and takes away from one list", async () => {
    expect(await preview("vulnerability.dismiss", { vulnerability_id: 71, dismissal_reason: "FALSE_POSITIVE" })).toMatchObject({
      changes: { state: { from: "DETECTED", to: "DISMISSED" }, dismissal_reason: { from: null, to: "FALSE_POSITIVE" } },
    });
    const both = await shown("work_item.update", { ...ITEM, add_label_ids: [201], remove_label_ids: [232] });
    expect(both.changes).toEqual({ labels: { from: [{ id: 232, title: "ci" }], to: [{ id: 201 }] } });
    const more = await shown("alert.assignees_set", {
      project_id: "acme/webshop",
      alert_iid: "1",
      assignee_usernames: ["maria"],
      mode: "REMOVE",
    });
    expect(more.unchanged).toEqual(["assignees"]);
  });

  it("tells each thing by itself where it changes several", async () => {
    const { changes_each: each } = await preview("vulnerability.severity_set", {
      vulnerability_ids: [71, 72],
      severity: "CRITICAL",
      comment: "As agreed",
    });
    expect(each).toMatchObject([
      { of: { id: 71 }, unchanged: ["severity"] },
      { of: { id: 72 }, changes: { severity: { from: "HIGH", to: "CRITICAL" } } },
    ]);
  });

  it("names what would be gone, also by an id alone", async () => {
    expect(await preview("work_item.delete", ITEM)).toMatchObject({ would_remove: { id: 501, title: "Set up the pipeline" } });
    await road.ask("/projects/101/issues/1/links", "POST", { target_project_id: 101, target_issue_iid: 3 });
    const unlinked = await road.run("work_item.link_remove", { ...ITEM, target_ids: [503] });
    expect(unlinked).toMatchObject({ preview: { would_remove: { link_type: "relates_to", work_item: { id: 503 } } } });
    road.sandbox.reset();
    expect(await shown("todo.delete", { todo_ids: [702] })).toMatchObject({ would_remove: { id: 702, body: expect.any(String) } });
  });

  it("finds by an id alone what stands in the current project or a group above it, and claims nothing without", async () => {
    const change = { framework_id: 1, name: "SOC 3" };
    const without = await preview("compliance_framework.update", change);
    expect([without.changes, without.unread]).toEqual([undefined, undefined]);
    expect(await shown("compliance_framework.update", change, "acme/platform/deploy")).toMatchObject({
      changes: { name: { from: "SOC 2", to: "SOC 3" } },
    });
    expect(await shown("branch_rule.delete", { branch_rule_id: 1 }, "acme/webshop")).toMatchObject({ would_remove: { name: "main" } });
    expect(await shown("branch_rule.delete", { branch_rule_id: 1 }, "acme/platform/deploy")).toMatchObject({
      unread: "What is there now could not be read: branch_rule.list does not show it.",
    });
  });

  it("reads only what may be read, and says what it could not", async () => {
    const told = await preview("work_item.update", { ...ITEM, title: "Another" }, "--exclude-tools=work_item.get");
    expect(told).not.toHaveProperty("changes");
    expect(told.unread).toMatch(/^What is there now could not be read: work_item\.get exists, but/);
    expect(road.sandbox.requests).toEqual([]);
  });

  it("stays a preview where GitLab fails", async () => {
    road = await openRoad({ flags: ["--safe-mode", "--retries=0"] });
    road.sandbox.fail({ kind: "500", match: { path: /graphql/ } });
    const outcome = await road.run("work_item.update", { ...ITEM, title: "Another" });
    expect(outcome).toMatchObject({
      kind: "preview",
      preview: { variables: { input: { title: "Another" } }, unread: expect.stringMatching(/could not be read/) },
    });
    expect(road.sandbox.requests.map(({ path }) => path)).toEqual(["/api/graphql"]);
  });

  it("frames every word of others", async () => {
    const told = await preview("work_item.note_delete", { note_id: 3001 });
    const text = String(renderOutcome({ kind: "preview", preview: told }).content[0]?.text);
    const [outside = "", inside = ""] = text.split("<<<gitlab-data");
    expect(inside).toContain("Easy: !33.");
    expect(outside).not.toContain("Easy");
  });
});

describe("a look before a write", () => {
  const action = loadActions().find(({ id }) => id === "issue.update");
  const call = (run: Call["run"]): Call => {
    if (!action) throw new Error("no issue.update");
    const params = { project_id: "101", issue_iid: "1", title: "Another" };
    return { action, params, route: pickRoute(action, params), wanted: {}, run };
  };
  const effect = (run: Call["run"], patience?: number) =>
    effectOfWrite(call(run), loadActions(), patience === undefined ? {} : { patience });

  it("waits no longer than it may, and ends the read", async () => {
    let signal: AbortSignal | undefined;
    const told = await effect((_id, _params, given) => {
      signal = given;
      return new Promise(() => undefined);
    }, 20);
    expect(told).toEqual({ unread: "What is there now could not be read: it took too long." });
    expect(signal?.aborted).toBe(true);
  });

  it("does not fail with the read, whatever was thrown", async () => {
    expect(await effect(() => Promise.reject(new TypeError("a bug")))).toEqual({
      unread: "What is there now could not be read: the read failed.",
    });
  });

  it("shows of long texts where they differ", async () => {
    const text = "word ".repeat(200);
    const read: Call["run"] = async () => ({ kind: "value", value: { iid: 1, title: `${text}old end` } });
    const long = call(read);
    const { changes } = (await effectOfWrite({ ...long, params: { ...long.params, title: `${text}new end` } }, loadActions())) as Json;
    const { from, to } = (changes as Record<string, { from: string; to: string }>).title ?? { from: "", to: "" };
    expect([from, to]).toEqual([expect.stringMatching(/^….*old end \(1007/), expect.stringMatching(/^….*new end \(1007/)]);
  });

  const ofId = (id: string, params: Json, run: Call["run"]) => {
    const found = loadActions().find((one) => one.id === id);
    if (!found) throw new Error(`no ${id}`);
    const route = found.http ? { route: pickRoute(found, params) } : {};
    return effectOfWrite({ action: found, params, ...route, wanted: {}, run }, loadActions());
  };

  it("claims nothing of an answer that is not what was looked for, and says so", async () => {
    const odd: Outcome[] = [
      { kind: "value", value: null as never },
      { kind: "value", value: [] as never },
      { kind: "binary", mime: "text/html", bytes: 1, base64: "PA==" },
      { kind: "list", items: [null, 1, "x", []], page: {} },
    ];
    for (const outcome of odd) {
      const run: Call["run"] = async () => outcome;
      expect(await effect(run)).toEqual({ unread: "What is there now could not be read: issue.get does not show it." });
      expect(await ofId("branch.delete", { project_id: "1", branch: "main" }, run)).toEqual({
        unread: "What is there now could not be read: branch.get does not show it.",
      });
      if (outcome.kind === "binary")
        expect(await ofId("work_item.child_add", { work_item_id: 501, child_ids: [502] }, run)).toEqual({
          unread: "What is there now could not be read: work_item.child_list does not show it.",
        });
    }
  });

  it("names by its first fields what would be gone and has no name", async () => {
    const share = { group_id: 7, group_name: "Friends", group_full_path: "acme/friends", group_access_level: 30, expires_at: null };
    const run: Call["run"] = async () => ({ kind: "value", value: { id: 1, name: "Webshop", shared_with_groups: [share] } });
    expect(await ofId("project.unshare", { project_id: "1", shared_group_id: 7 }, run)).toMatchObject({
      would_remove: { group_id: 7, group_name: "Friends", group_full_path: "acme/friends" },
    });
  });

  it("names nothing that would be gone where the answer names nothing", async () => {
    const told = await ofId("branch.delete", { project_id: "1", branch: "main" }, async () => ({ kind: "value", value: {} }));
    expect(told).toEqual({});
  });

  it("reads a list that it adds to up to its end, and claims nothing of one that goes on", async () => {
    const items = Array.from({ length: 30 }, (_one, at) => ({ id: at + 1, title: `Part ${at + 1}` }));
    let asked: Json = {};
    const add = (page: Json, child: number) =>
      ofId("work_item.child_add", { work_item_id: 501, child_ids: [child] }, async (_id, params) => {
        asked = params;
        return { kind: "list", items, page };
      });
    expect(await add({}, 30)).toEqual({ unchanged: ["children"], untrusted: true });
    expect(asked).toMatchObject({ all: true });
    expect(await add({ next: "more" }, 31)).toEqual({
      unread: "What is there now could not all be read: work_item.child_list does not show it in the part that was read.",
    });
  });

  it("is of the one whose thing it is, and not of whoever calls", async () => {
    const asked: Json[] = [];
    await ofId("user.support_pin_revoke", { user_id: 3 }, async (_id, params) => {
      asked.push(params);
      return { kind: "value", value: { pin: "123456", expires_at: "2027-01-01" } };
    });
    expect(asked).toMatchObject([{ user_id: 3 }]);
  });

  it("reads a file where the new branch starts, since it is not there yet", async () => {
    const asked: Json[] = [];
    const run: Call["run"] = async (_id, params) => {
      asked.push(params);
      return { kind: "text", text: "old", value: { file_path: "a.txt" } };
    };
    const file = { project_id: "1", file_path: "a.txt", commit_message: "x", content: "new" };
    expect(await ofId("repository.file_update", { ...file, branch: "topic", start_branch: "main" }, run)).toHaveProperty("changes");
    await ofId("repository.file_update", { ...file, branch: "topic" }, run);
    expect(asked.map(({ ref }) => ref)).toEqual(["main", "topic"]);
  });

  it("compares the content of a file as it would stand there, however it travels", async () => {
    const run: Call["run"] = async () => ({ kind: "text", text: "Größe\n", value: { file_path: "a.txt" } });
    const write = (content: Buffer) =>
      ofId(
        "repository.file_update",
        {
          project_id: "1",
          file_path: "a.txt",
          branch: "main",
          commit_message: "x",
          encoding: "base64",
          content: content.toString("base64"),
        },
        run,
      );
    expect(await write(Buffer.from("Größe\n"))).toMatchObject({ unchanged: ["content"] });
    expect(await write(Buffer.from("Höhe\n"))).toMatchObject({ changes: { content: { from: "Größe\n", to: "Höhe\n" } } });
    expect(await write(Buffer.from([255, 0, 254]))).not.toHaveProperty("changes");
  });
});
