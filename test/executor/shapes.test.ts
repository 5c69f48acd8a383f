import { readFileSync } from "node:fs";
import { join } from "node:path";
import { encode } from "gpt-tokenizer/encoding/o200k_base";
import { HttpResponse } from "msw";
import { describe, expect, it } from "vitest";
import { reservedOf, toInputSchema } from "../../src/catalog/schema.ts";
import { cutToFit, headOf } from "../../src/executor/budget.ts";
import { normalizeParams } from "../../src/executor/params.ts";
import { chosenFor, compact, parseField, slim } from "../../src/executor/slim.ts";
import { cleanLog, decodeText, windowBackward, windowForward } from "../../src/executor/text.ts";
import { estimateTokens } from "../../src/executor/tokens.ts";
import {
  API,
  action,
  answers,
  callOf,
  contextOf,
  failureOf,
  HOST,
  json,
  listIn,
  sourceOf,
  textIn,
  useNetwork,
  valueIn,
} from "./gitlab-fixture.ts";
import { issue, mergeRequest, project } from "./samples.ts";

useNetwork();

const tokens = (value: unknown) => encode(typeof value === "string" ? value : JSON.stringify(value)).length;

describe("the estimator", () => {
  const prose = "The runner could not pull the image because the registry answered 503; the job was retried twice and then given up. ";
  const samples: Record<string, string> = {
    "merge requests, whole": JSON.stringify(Array.from({ length: 10 }, (_, n) => mergeRequest(n))),
    "merge requests, slim": JSON.stringify(
      Array.from({ length: 20 }, (_, n) => slim(mergeRequest(n), "APIEntitiesMergeRequestBasic", "list").value),
    ),
    projects: JSON.stringify(Array.from({ length: 10 }, (_, n) => project(n))),
    prose: prose.repeat(30),
    commits: JSON.stringify(
      Array.from({ length: 20 }, (_, n) => ({
        id: `${n}f3a9c0de71b2a81c93e0f7d2`.padEnd(40, "9b1e4c7").slice(0, 40),
        title: "Merge branch 'x' into 'main'",
        date: "2026-11-30T13:32:39Z",
      })),
    ),
    log: "2026-11-30T13:32:39Z INFO worker[12] job=4711\n  at Object.<anonymous> (/builds/app/src/index.test.ts:42:17)\nnpm ERR! code ELIFECYCLE\n".repeat(
      20,
    ),
    german: "Der Auftrag schlägt fehl, weil die Prüfung für Umgebungsvariablen zu früh läuft. ".repeat(20),
    russian: "Конвейер завершился с ошибкой, потому что образ не найден в реестре. ".repeat(20),
    chinese: "合并请求无法合并,因为流水线失败了。请检查作业日志并重试。".repeat(20),
    code: 'export function toRoot(url: string): string {\n  const parsed = new URL(url);\n  return parsed.origin.replace(/\\/+$/, "");\n}\n'.repeat(
      20,
    ),
  };

  it.each(Object.keys(samples))("is within 25 %% of o200k for %s", (name) => {
    const text = samples[name] as string;
    const ratio = estimateTokens(text) / tokens(text);
    expect(ratio).toBeGreaterThan(0.75);
    expect(ratio).toBeLessThan(1.25);
  });
});

describe("slim answers", () => {
  it("20 merge requests fit 2,000 tokens", async () => {
    answers("get", `${API}/projects/1/merge_requests`, () => json(Array.from({ length: 20 }, (_, n) => mergeRequest(n))));
    const { items, page, omitted } = listIn(await sourceOf().run(callOf("merge_request.list", { project_id: "1" }), contextOf()));
    expect(items).toHaveLength(20);
    expect(tokens({ items, page, omitted })).toBeLessThanOrEqual(2_000);
    expect(items[0]).toMatchObject({ iid: 100, author: expect.any(String), source_branch: expect.any(String) });
  });

  it("20 projects fit 1,500 tokens", async () => {
    answers("get", `${API}/projects`, () => json(Array.from({ length: 20 }, (_, n) => project(n))));
    const { items } = listIn(await sourceOf().run(callOf("project.list"), contextOf()));
    expect(items).toHaveLength(20);
    expect(tokens({ items })).toBeLessThanOrEqual(1_500);
  });

  it("an issue fits 400 tokens beside its description, which is whole", async () => {
    answers("get", `${API}/projects/1/issues/7`, () => json(issue(7)));
    const value = valueIn(await sourceOf().run(callOf("issue.get", { project_id: "1", issue_iid: 7 }), contextOf()));
    expect(value.description).toBe(issue(7).description);
    expect(tokens({ ...value, description: "" })).toBeLessThanOrEqual(400);
  });

  it("of an entity that the table does not know lose only noise", () => {
    const source = {
      id: 1,
      empty: null,
      list: [],
      _links: { self: "x" },
      avatar_url: "x",
      user: { id: 1, username: "kim", name: "Kim" },
      at: "2026-01-02T03:04:05.678Z",
      off: false,
      zero: 0,
    };
    expect(slim(source, "Unheard", "get")).toEqual({
      value: { id: 1, user: "kim", at: "2026-01-02T03:04:05Z", off: false, zero: 0 },
      omitted: 2,
    });
  });

  it("fall back to everything where the answer holds none of the chosen fields", () => {
    expect(slim({ strange: 1 }, "APIEntitiesIssue", "get").value).toEqual({ strange: 1 });
  });

  it("keep nested lists as lists", () => {
    const discussion = {
      id: "d",
      individual_note: false,
      notes: [{ id: 1, body: "Hi", author: { id: 1, username: "kim", name: "Kim" }, system: false, noteable_id: 9 }],
    };
    expect(slim(discussion, "APIEntitiesDiscussion", "list").value).toEqual({ id: "d", notes: [{ id: 1, author: "kim", body: "Hi" }] });
  });

  it("a user alone keeps its fields", () =>
    expect(compact({ id: 1, username: "kim", name: "Kim" })).toEqual({ id: 1, username: "kim", name: "Kim" }));
});

describe("the table of chosen fields", () => {
  const table = JSON.parse(readFileSync(join(import.meta.dirname, "../../src/catalog/data/slim.json"), "utf8")) as Record<
    string,
    Record<string, string[]>
  >;

  it("has readable fields, each name once", () => {
    expect(Object.keys(table).length).toBeGreaterThan(45);
    for (const [entity, forms] of Object.entries(table)) {
      for (const [form, fields] of Object.entries(forms)) {
        const names = fields.map((text) => parseField(text)).map(({ alias, path }) => alias ?? path.join("."));
        expect([...new Set(names)], `${entity} ${form}`).toEqual(names);
      }
    }
  });

  it.each(
    "MergeRequest MergeRequestBasic Issue Project CiPipeline CiPipelineBasic CiJob CiBridge Commit CommitDetail Branch Tag Release Note Discussion Member Milestone Epic CiPipelineSchedule TreeObject Diff Todo Event ProjectLabel".split(
      " ",
    ),
  )("knows %s", (entity) => expect(chosenFor(`APIEntities${entity}`)?.list.length).toBeGreaterThan(2));
});

describe("the budget of one object", () => {
  it("cuts the longest text at a line and says so", async () => {
    const description = Array.from({ length: 3_000 }, (_, n) => `Line ${n} of the description.`).join("\n");
    answers("get", `${API}/projects/1/issues/7`, () => json({ ...issue(7), description }));
    const outcome = await sourceOf({ budget: 2_000 }).run(callOf("issue.get", { project_id: "1", issue_iid: 7 }), contextOf());
    expect(tokens(outcome)).toBeLessThanOrEqual(2_000);
    expect(valueIn(outcome).description).toMatch(/^Line 0.*\n…$/s);
    expect(outcome).toMatchObject({ truncated: expect.stringMatching(/description: the first \d+ of \d+ characters/), untrusted: true });
  });

  it("is the call's own where it names one", async () => {
    const description = Array.from({ length: 9_000 }, (_, n) => `Line ${n} of the description.`).join("\n");
    answers("get", `${API}/projects/1/issues/7`, () => json({ ...issue(7), description }));
    const read = async (budget: number) =>
      tokens(await sourceOf().run(callOf("issue.get", { project_id: "1", issue_iid: 7 }, { budget }), contextOf()));
    for (const budget of [500, 20_000]) {
      const used = await read(budget);
      expect(used).toBeLessThanOrEqual(budget);
      expect(used).toBeGreaterThan(budget * 0.6);
    }
  });

  it("of a call is between 500 and 50,000, and is not listed", async () => {
    const normal = (budget: unknown) => normalizeParams(action("issue.get"), { project_id: "1", issue_iid: 7, budget }, { instance: HOST });
    expect((await normal("900")).wanted).toEqual({ budget: 900 });
    for (const budget of [499, 50_001, "much"])
      await expect(normal(budget)).rejects.toMatchObject({
        code: "invalid_params",
        detail: { fields: { budget: expect.stringMatching(/expected/) } },
      });
    expect(toInputSchema(action("issue.get"), { detail: "listed" }).properties).not.toHaveProperty("budget");
    expect(toInputSchema(action("issue.get"), { detail: "full" }).properties).toHaveProperty("budget");
  });

  it("cuts lists inside at items", () => {
    const { value, cuts } = cutToFit({ a: 1, diffs: Array.from({ length: 200 }, (_, n) => ({ n, text: "some words here" })) }, 500);
    expect((value as { diffs: unknown[] }).diffs.length).toBeGreaterThan(10);
    expect(cuts[0]).toMatch(/diffs: the first \d+ of 200/);
    expect(estimateTokens(JSON.stringify(value))).toBeLessThanOrEqual(500);
  });

  it("keeps to itself whatever is large: many fields, deep texts, one long list", () => {
    const many = Object.fromEntries(Array.from({ length: 900 }, (_, n) => [`language_${n}`, n]));
    const deep = { a: { b: { c: "word ".repeat(3_000), d: "other ".repeat(3_000) } }, e: "short" };
    const long = { rows: [["x".repeat(9_000)], 2, 3] };
    for (const value of [many, deep, long, "text\n".repeat(3_000), [deep, deep]]) {
      const fitted = cutToFit(value, 600);
      expect(estimateTokens(JSON.stringify(fitted.value))).toBeLessThanOrEqual(640);
      expect(fitted.cuts.length).toBeGreaterThan(0);
      expect(fitted.cuts.length).toBeLessThan(5);
    }
  });

  it("never cuts a character in two", () => {
    const text = "😀".repeat(2_000);
    for (const room of [10, 57, 333]) expect(headOf(text, room)).toMatch(/^(?:😀)*$/u);
  });
});

describe("job logs", () => {
  const ESC = "\u001b";

  it("lose colours, section marks, overwritten progress and stamps", () => {
    const raw = [
      `${ESC}[0KRunning with gitlab-runner 18.9${ESC}[0;m`,
      `section_start:1700000000:prepare_script[collapsed=true]\r${ESC}[0K${ESC}[36;1mPreparing${ESC}[0;m`,
      `section_end:1700000001:prepare_script\r${ESC}[0K`,
      "10%\r50%\r100% done\r",
      `${ESC}]8;;https://x.test${ESC}\\link${ESC}]8;;${ESC}\\`,
      "2026-05-22T12:43:46.962646Z 01O first",
      "2026-05-22T12:43:47.000001Z 01O+ half",
      "plain\r\n",
    ].join("\n");
    expect(cleanLog(raw)).toBe("Running with gitlab-runner 18.9\nPreparing\n\n100% done\nlink\nfirst half\nplain\n");
  });

  it("are read from the end, and backwards with the cursor, without a gap", async () => {
    const lines = Array.from({ length: 900 }, (_, n) => `step ${n} finished in ${n} ms`);
    answers(
      "get",
      `${API}/projects/1/jobs/5/trace`,
      () => new HttpResponse(`${lines.join("\n")}\n`, { headers: { "content-type": "text/plain" } }),
    );
    const source = sourceOf({ budget: 2_000 });
    const read: string[] = [];
    let cursor: string | undefined;
    for (let round = 0; round < 20; round++) {
      const outcome = textIn(
        await source.run(callOf("job.log_get", { project_id: "1", job_id: 5 }, cursor ? { cursor } : {}), contextOf()),
      );
      read.unshift(...outcome.text.split("\n"));
      if (round === 0)
        expect(outcome).toMatchObject({ untrusted: true, truncated: expect.stringMatching(/^lines \d+–900 of 900; page.next/) });
      cursor = outcome.page?.next;
      if (!cursor) break;
    }
    expect(read).toEqual(lines);
  });

  it("have one line that is too long cut", () => {
    const window = windowBackward(`a\n${"word ".repeat(5_000)}`, 100);
    expect([window.from, window.to, window.next]).toEqual([2, 2, 1]);
    expect(estimateTokens(window.text)).toBeLessThan(110);
    expect(windowForward("", 100)).toEqual({ text: "", from: 0, to: 0, of: 0 });
  });
});

describe("files", () => {
  const FILE = `${API}/projects/1/repository/files/:path`;
  const call = () => callOf("repository.file_get", { project_id: "1", file_path: "a.txt", ref: "main" });
  const file = (bytes: Uint8Array) =>
    json({
      file_name: "a.txt",
      size: bytes.length,
      encoding: "base64",
      content: Buffer.from(bytes).toString("base64"),
      blob_id: "b",
      last_commit_id: "c",
    });

  it("come as text, to the byte, with what is known beside it", async () => {
    const text = "naïve\r\n\ttabs  \n\nend without newline";
    answers("get", FILE, () => file(new TextEncoder().encode(text)));
    expect(textIn(await sourceOf().run(call(), contextOf()))).toMatchObject({ text, value: { last_commit_id: "c" }, untrusted: true });
  });

  it("that are long are read on with the cursor, which their schemas take", async () => {
    const lines = Array.from({ length: 900 }, (_, n) => `line ${n} of the file`);
    answers("get", FILE, () => file(new TextEncoder().encode(`${lines.join("\n")}\n`)));
    const source = sourceOf({ budget: 2_000 });
    const first = textIn(await source.run(call(), contextOf()));
    const next = first.page?.next as string;
    const second = textIn(await source.run({ ...call(), wanted: { cursor: next } }, contextOf()));
    expect(`${first.text}\n${second.text}`).toBe(lines.slice(0, `${first.text}\n${second.text}`.split("\n").length).join("\n"));
    for (const id of ["repository.file_get", "repository.file_raw_get", "job.log_get"]) expect(reservedOf(action(id))).toContain("cursor");
  });

  it.each([
    ["invalid UTF-8", new Uint8Array([0x89, 0x50, 0x4e, 0x47, 0xff])],
    ["a NUL", new Uint8Array([65, 0, 66])],
  ])("with %s stay bytes", async (_name, bytes) => {
    answers("get", FILE, () => file(bytes));
    expect(await sourceOf().run(call(), contextOf())).toMatchObject({
      kind: "binary",
      base64: Buffer.from(bytes).toString("base64"),
      bytes: bytes.length,
      name: "a.txt",
    });
  });

  it("downloaded raw are text or bytes by their content, not by their type", async () => {
    const png = new Uint8Array([0x89, 0x50, 0x4e, 0x47, 13, 10, 26, 10, 0, 255]);
    const raw = callOf("repository.file_raw_get", { project_id: "1", file_path: "x", ref: "main" });
    answers(
      "get",
      `${FILE}/raw`,
      () =>
        new HttpResponse(png, {
          headers: { "content-type": "text/plain; charset=utf-8", "content-disposition": 'attachment; filename="x.png"' },
        }),
      () => new HttpResponse("<html>kept</html>", { headers: { "content-type": "text/html" } }),
    );
    expect(await sourceOf().run(raw, contextOf())).toMatchObject({
      kind: "binary",
      base64: Buffer.from(png).toString("base64"),
      mime: "text/plain",
      name: "x.png",
    });
    expect(textIn(await sourceOf().run(raw, contextOf())).text).toBe("<html>kept</html>");
  });

  it("too large for a message are refused, not cut", async () => {
    answers("get", `${FILE}/raw`, () => new HttpResponse(new Uint8Array(800_000).fill(255)));
    const error = await failureOf(
      sourceOf().run(callOf("repository.file_raw_get", { project_id: "1", file_path: "x", ref: "main" }), contextOf()),
    );
    expect(error.code).toBe("too_large");
  });

  it("are decoded strictly", () => {
    expect(decodeText(new Uint8Array([0xc3, 0x28]))).toBeUndefined();
    expect(decodeText(new TextEncoder().encode("ok ✓"))).toBe("ok ✓");
  });
});
