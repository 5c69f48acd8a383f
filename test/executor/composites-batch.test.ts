import { countTokens } from "gpt-tokenizer/encoding/o200k_base";
import { describe, expect, it } from "vitest";
import { estimateJson } from "../../src/executor/tokens.ts";
import { answerOf, failure, items, runComposite, text, value } from "./composites-run.ts";

const calls = (...actions: string[]) => ({ calls: actions.map((action, index) => ({ action, params: { n: index } })) });

describe("a batch", () => {
  it("answers in order, each with its own error", async () => {
    const batch = runComposite("batch.run", calls("issue.get", "job.log_get", "issue.list", "project.get"), async (id) => {
      if (id === "issue.get") await new Promise((resolve) => setImmediate(resolve));
      const replies = {
        "issue.get": value({ iid: 1 }),
        "job.log_get": failure("not_found"),
        "issue.list": items([{ iid: 2 }], "next"),
        "project.get": text("t"),
      };
      return replies[id as keyof typeof replies];
    });
    expect(await answerOf(batch.outcome)).toEqual({
      results: [
        { action: "issue.get", result: { iid: 1 } },
        { action: "job.log_get", error: { code: "not_found", message: "it is not_found", hint: "hint of not_found" } },
        { action: "issue.list", items: [{ iid: 2 }], page: { next: "next" } },
        { action: "project.get", text: "t" },
      ],
      failed: 1,
    });
    expect(batch.ran.map(([, params]) => params)).toEqual([{ n: 0 }, { n: 1 }, { n: 2 }, { n: 3 }]);
    expect(batch.progress.at(-1)).toMatchObject({ progress: 4, total: 4 });
    expect((await batch.outcome) as object).toMatchObject({ untrusted: true });
  });

  it.each(["issue.create", "create_issue", "merge_request.delete", "batch.run", "run_batch"])(
    "refuses %s by name and runs the reads",
    async (name) => {
      const batch = runComposite("batch.run", calls("issue.get", name), () => value({}));
      const { results } = (await answerOf(batch.outcome)) as { results: { error?: { code: string; message: string } }[] };
      expect(results[1]?.error).toMatchObject({ code: "invalid_params", message: `${name} is not a read.` });
      expect(batch.ran.map(([id]) => id)).toEqual(["issue.get"]);
    },
  );

  it("runs four at a time", async () => {
    let now = 0;
    let most = 0;
    const batch = runComposite("batch.run", calls(...Array.from({ length: 20 }, () => "issue.get")), async () => {
      most = Math.max(most, ++now);
      await new Promise((resolve) => setImmediate(resolve));
      now--;
      return value({});
    });
    await batch.outcome;
    expect(most).toBe(4);
    expect(batch.ran).toHaveLength(20);
  });

  it("stops when it is cancelled", async () => {
    const batch = runComposite("batch.run", calls(...Array.from({ length: 20 }, () => "issue.get")), async () => {
      await new Promise((resolve) => setImmediate(resolve));
      batch.controller.abort();
      return failure("cancelled");
    });
    await expect(batch.outcome).rejects.toMatchObject({ code: "cancelled" });
    expect(batch.ran.length).toBeLessThanOrEqual(4);
  });

  it.each([
    [{ calls: [] }, "calls is empty"],
    [calls(...Array.from({ length: 21 }, () => "issue.get")), "21 calls, 20 at most"],
    [{ calls: [{ params: {} }] }, "calls[0] names no action"],
  ])("refuses %j", async (params, message) => {
    const batch = runComposite("batch.run", params, () => value({}));
    await expect(batch.outcome).rejects.toMatchObject({ code: "invalid_params", message: expect.stringContaining(message) });
    expect(batch.ran).toEqual([]);
  });

  it("keeps one budget: what is small leaves its room to what is large", async () => {
    const rows = Array.from({ length: 500 }, (_, iid) => ({ iid, title: `Issue ${iid} has a title of some words, as people write them` }));
    const batch = runComposite("batch.run", calls("issue.list", "issue.get", "job.log_get"), (id) =>
      id === "issue.list" ? items(rows) : id === "issue.get" ? value({ iid: 1 }) : text("all is well so far\n".repeat(9_000)),
    );
    const answer = await answerOf(batch.outcome);
    const [list, one, log] = answer.results as { items?: unknown[]; text?: string; truncated?: string; result?: unknown }[];
    const tokens = countTokens(JSON.stringify(answer));
    expect(estimateJson(answer)).toBeLessThanOrEqual(7_850);
    expect(tokens).toBeLessThan(8_800);
    expect(tokens).toBeGreaterThan(5_000);
    expect(one).toEqual({ action: "issue.get", result: { iid: 1 } });
    expect(list?.truncated).toMatch(/items: the first \d+ of 500/);
    expect(list?.items?.[0]).toEqual(rows[0]);
    expect(log?.truncated).toContain("text: the first");
  });

  it("does not hide a bug", async () => {
    await expect(runComposite("batch.run", calls("issue.get"), () => new TypeError("bug")).outcome).rejects.toThrow(TypeError);
  });
});
