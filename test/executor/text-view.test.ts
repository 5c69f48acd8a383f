import { HttpResponse } from "msw";
import { describe, expect, it } from "vitest";
import { loadActions } from "../../src/catalog/load.ts";
import { toInputSchema, toSignature } from "../../src/catalog/schema.ts";
import type { Wanted } from "../../src/catalog/types.ts";
import { normalizeParams } from "../../src/executor/params.ts";
import { estimateTokens } from "../../src/executor/tokens.ts";
import { API, action, answers, callOf, contextOf, failureOf, HOST, json, sourceOf, textIn, useNetwork } from "./gitlab-fixture.ts";

useNetwork();

const JOB = { project_id: "a/b", job_id: 7 };
const LINES = Array.from({ length: 5_000 }, (_, index) => `step ${index + 1} writes a file of some length`);
LINES[99] = "\u001b[31mAssertionError: 1 is not 2\u001b[0m";
LINES[2_999] = "10%\r55%\rERROR: npm failed";

async function log(wanted: Wanted, lines: readonly string[] = LINES) {
  answers("get", `${API}/projects/a%2Fb/jobs/7/trace`, () => HttpResponse.text(`section_start:1:x\r\u001b[0K${lines.join("\n")}\n`));
  return textIn(await sourceOf().run(callOf("job.log_get", JOB, wanted), contextOf()));
}

describe("a job log", () => {
  it("comes from its end, at most 4,000 tokens, and goes back page by page without gap or overlap", async () => {
    const seen: string[] = [];
    let next: string | undefined;
    do {
      const page = await log(next === undefined ? {} : { cursor: next });
      expect(estimateTokens(page.text)).toBeLessThanOrEqual(4_000);
      seen.unshift(page.text);
      next = page.page?.next;
    } while (next !== undefined);
    expect(seen.length).toBeGreaterThan(3);
    expect(seen.join("\n").split("\n")).toEqual(
      LINES.map((line) => (line.includes("Assertion") ? "AssertionError: 1 is not 2" : line.replace(/[\s\S]*\r/, ""))),
    );
  });

  it("by its last or first lines goes on in pages of that size", async () => {
    const last = await log({ tail: 3 });
    expect(last.text.split("\n")).toEqual(LINES.slice(-3));
    const before = await log({ tail: 3, cursor: last.page?.next ?? "" });
    expect(before.text.split("\n")).toEqual(LINES.slice(-6, -3));
    const first = await log({ head: 2 });
    expect(first.text.split("\n")).toEqual(LINES.slice(0, 2));
    expect((await log({ head: 2, cursor: first.page?.next ?? "" })).text.split("\n")).toEqual(LINES.slice(2, 4));
    expect((await failureOf(log({ head: 1, tail: 1 }))).detail.fields).toHaveProperty("tail");
  });

  it("by a range of lines", async () => {
    expect((await log({ lines: "3-5" })).text.split("\n")).toEqual(LINES.slice(2, 5));
    expect((await log({ lines: "4999-" })).text.split("\n")).toEqual(LINES.slice(4_998));
    expect((await log({ lines: "-2" })).text.split("\n")).toEqual(LINES.slice(0, 2));
    expect((await log({ lines: "7" })).text).toBe(LINES[6]);
    expect((await log({ lines: "4990-9000", tail: 1 })).text).toBe(LINES.at(-1));
    for (const lines of ["x", "0-3", "9-2", "6000-"]) expect((await failureOf(log({ lines }))).detail.fields).toHaveProperty("lines");
  });

  it("by what fits, with numbers and neighbours", async () => {
    const found = await log({ grep: "assertionerror" });
    expect(found.text).toBe("100: AssertionError: 1 is not 2");
    expect(found.hint).toMatch(/^1 of 5000 lines fit/);
    expect((await log({ grep: "/^(Assertion|ERROR)/", context: 1 })).text.split("\n")).toEqual([
      `99- ${LINES[98]}`,
      "100: AssertionError: 1 is not 2",
      `101- ${LINES[100]}`,
      "--",
      `2999- ${LINES[2_998]}`,
      "3000: ERROR: npm failed",
      `3001- ${LINES[3_000]}`,
    ]);
    expect((await log({ grep: "/error/i", lines: "2000-" })).text).toBe("3000: ERROR: npm failed");
    expect(await log({ grep: "nothing like it" })).toMatchObject({ text: "", hint: expect.stringMatching(/^0 of 5000/) });
  });

  it("pages what fits, and its cursor is good for nothing else", async () => {
    const page = await log({ grep: "step", head: 2 });
    expect(page.text.split("\n")).toEqual([`1: ${LINES[0]}`, `2: ${LINES[1]}`]);
    const next = page.page?.next ?? "";
    expect((await log({ grep: "step", head: 2, cursor: next })).text).toContain(`3: ${LINES[2]}`);
    expect((await failureOf(log({ grep: "other", cursor: next }))).detail.fields).toHaveProperty("cursor");
  });

  it("only by its telling lines", async () => {
    const { text } = await log({ errors: true });
    expect(text).toContain("100: AssertionError: 1 is not 2");
    expect(text).toContain("3000: ERROR: npm failed");
    expect(text.split("\n").length).toBeLessThan(20);
  });

  it("is not searched for ever, nor with what is no pattern", async () => {
    const evil = ["a".repeat(1_500)];
    expect((await failureOf(log({ grep: "/^(a+)+$b/" }, evil))).message).toMatch(/takes too long/);
    expect((await failureOf(log({ grep: "/(/" }))).message).toMatch(/is no pattern/);
    expect((await failureOf(log({ grep: "x".repeat(201) }))).message).toMatch(/200 is the most/);
  });
});

describe("the arguments for texts", () => {
  it("belong to texts, and two of them are listed", async () => {
    const listed = Object.keys(toInputSchema(action("job.log_get"), { detail: "listed" }).properties as object);
    expect(listed).toEqual(expect.arrayContaining(["tail", "grep"]));
    expect(listed).not.toEqual(expect.arrayContaining(["head"]));
    expect(toSignature(action("job.log_get"))).toContain("tail?, grep?, cursor?");
    const { wanted, params } = await normalizeParams(
      action("job.log_get"),
      { ...JOB, tail: "20", errors: "true", context: 0, lines: "1-9" },
      { instance: HOST },
    );
    expect({ wanted, params }).toEqual({ wanted: { tail: 20, errors: true, context: 0, lines: "1-9" }, params: JOB });
    expect((await failureOf(normalizeParams(action("job.log_get"), { ...JOB, tail: 0 }, { instance: HOST }))).detail.fields).toHaveProperty(
      "tail",
    );
    expect((await failureOf(normalizeParams(action("job.get"), { ...JOB, grep: "x" }, { instance: HOST }))).detail.fields).toHaveProperty(
      "grep",
    );
  });

  it("cut files too", async () => {
    const content = Buffer.from("one\ntwo\nthree\nfour\n").toString("base64");
    answers("get", `${API}/projects/a%2Fb/repository/files/x.txt`, () => json({ file_name: "x.txt", encoding: "base64", content }));
    const file = (wanted: Wanted) =>
      sourceOf().run(callOf("repository.file_get", { project_id: "a/b", file_path: "x.txt", ref: "main" }, wanted), contextOf());
    expect(textIn(await file({ lines: "2-3" })).text).toBe("two\nthree");
    expect(textIn(await file({ grep: "o" })).text).toBe("1: one\n2: two\n4: four");
    expect(textIn(await file({})).text).toBe("one\ntwo\nthree\nfour\n");
  });

  it("leave every other action its own parameter of such a name", () => {
    const own = loadActions().filter((row) => Object.keys(row.params).includes("context"));
    expect(own.map(({ id }) => id)).toContain("commit.status_set");
  });
});
