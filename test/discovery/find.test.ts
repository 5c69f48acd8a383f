import { readFileSync } from "node:fs";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { loadActions, readData } from "../../src/catalog/load.ts";
import type { Action, Effect } from "../../src/catalog/types.ts";
import { createFinder, type FindAnswer, type FindOptions } from "../../src/discovery/find.ts";

const actions = loadActions();
const finder = createFinder(() => actions);
const everything = () => true;
const find = (query: string, options: Partial<FindOptions> = {}): FindAnswer => finder.find(query, { permitted: everything, ...options });
const ids = (answer: FindAnswer) => answer.results.map(({ action }) => action.id);
const first = (query: string, options: Partial<FindOptions> = {}) => ids(find(query, options))[0];

function makeAction(id: string, tool: string, title: string, effect: Effect = "read", extra: Partial<Action> = {}): Action {
  return { id, tool, title, about: "", effect, params: {}, toolset: "demo", source: "demo", ...extra };
}

describe("exact names", () => {
  it.each([
    ["merge_request.list", "merge_request.list"],
    ["Merge_Request.List", "merge_request.list"],
    ["list_merge_requests", "merge_request.list"],
    ["merge-request.list", "merge_request.list"],
    ["  issue.create ", "issue.create"],
  ])("%j is that action, first and exact", (query, id) => {
    const { results, confident } = find(query);
    expect(results[0]?.action.id).toBe(id);
    expect(results[0]?.exact).toBe(true);
    expect(confident).toBe(true);
  });

  it("knows an alias", () => {
    const aliased = actions.find(({ aliases }) => aliases?.includes("pipeline.schedule_list"));
    expect(aliased?.id).toBe("pipeline_schedule.list");
    expect(find("pipeline.schedule_list").results[0]).toMatchObject({ action: { id: "pipeline_schedule.list" }, exact: true });
  });

  it("knows what other GitLab servers call it; our own names win", () => {
    const names = Object.entries(readData<Record<string, string>>("aliases"));
    const own = new Set(actions.flatMap(({ id, tool, aliases = [] }) => [id, tool, ...aliases]).map((name) => name.replace(/[.-]/g, "_")));
    for (const [name, id] of names.filter(([name]) => !own.has(name.replace(/[.-]/g, "_"))).filter((_, at) => at % 25 === 0))
      expect(find(name).results[0], name).toMatchObject({ action: { id }, exact: true });
    expect(find("list_merge_requests").results[0]?.action.id).toBe("merge_request.list");
  });

  it("puts a name inside a sentence first, but not as exact", () => {
    const [result] = find("please call pipeline_schedule.take_ownership for me").results;
    expect(result?.action.id).toBe("pipeline_schedule.take_ownership");
    expect(result?.exact).toBeUndefined();
  });

  it("gives a destructive action by its exact name", () => {
    expect(find("branch.delete").results[0]).toMatchObject({ action: { id: "branch.delete" }, exact: true });
  });

  it("finds the near name of a near miss", () => {
    expect(first("merge_reqests.list")).toBe("merge_request.list");
    expect(first("list_isues")).toBe("issue.list");
  });

  it("tells an alias of two actions as not certain", () => {
    const twins = [
      makeAction("a.get", "get_a", "Get a", "read", { aliases: ["old.name"] }),
      makeAction("b.get", "get_b", "Get b", "read", { aliases: ["old.name"] }),
    ];
    const answer = createFinder(() => twins).find("old.name", { permitted: everything });
    expect(answer.results.map(({ exact }) => exact)).toEqual([true, true]);
    expect(answer.confident).toBe(false);
  });
});

describe("words of work", () => {
  it.each([
    ["list PRs", "merge_request.list"],
    ["show me the open issues", "issue.list"],
    ["remove a member from the group", "member.remove"],
    ["close ticket #4", "issue.update"],
    ["approve !42", "merge_request.approve"],
    ["lst mrege reqeusts", "merge_request.list"],
    ["mergerequest diffs", "merge_request.diff_list"],
  ])("%j → %s", (query, id) => {
    expect(first(query)).toBe(id);
  });

  it.each([
    ["why did the pipeline fail", "pipeline.explain_failure"],
    ["why did the pipeline of main fail", "pipeline.explain_failure"],
    ["list the latest pipelines", "pipeline.list"],
    ["get the latest pipeline", "pipeline.latest_get"],
    ["show me the log of the failed job", "job.log_get"],
    ["delte branch", "branch.list"],
    ["turn the nightly schedule off", "pipeline_schedule.update"],
  ])("reads the form of a wish: %j → %s", (query, id) => {
    expect(first(query)).toBe(id);
  });

  it.each([
    ["es", "crear una incidencia", "issue.create"],
    ["de", "Zeige die Projektmitglieder", "member.list"],
    ["fr", "approuver la demande de fusion", "merge_request.approve"],
    ["pt", "listar solicitações de mesclagem", "merge_request.list"],
    ["ru", "перезапустить пайплайн", "pipeline.retry"],
    ["ja", "ブランチを削除", "branch.delete"],
    ["zh", "创建合并请求", "merge_request.create"],
    ["zh, traditional", "創建合併請求", "merge_request.create"],
    ["ko", "파이프라인 재시도", "pipeline.retry"],
  ])("speaks %s: %j", (_, query, id) => {
    expect(first(query)).toBe(id);
  });

  it("finds the wish in a long prompt", () => {
    const noise = "We met the vendor on Monday and looked at the plans for the summer party, as every year. ".repeat(15);
    expect(first(`${noise}Please cherry-pick the commit onto the stable branch. ${noise}`)).toBe("commit.cherry_pick");
  });

  it("does not do what it is told not to do", () => {
    expect(first("do not retry the job, show me the log of the job")).toBe("job.log_get");
  });
});

describe("destructive actions", () => {
  const garbled = JSON.parse(readFileSync(new URL("../../fixtures/find/garbled.json", import.meta.url), "utf8")) as string[];

  it.each(garbled)("are not first for %j", (query) => {
    expect(find(query).results[0]?.action.effect).not.toBe("destructive");
  });

  it("come first when verb and resource are said", () => {
    expect(first("delete the branch old")).toBe("branch.delete");
    expect(first("please remove the release")).toBe("release.delete");
    expect(first("wipe the release")).toBe("release.delete");
  });

  it("are never the only answer to a garbled query", () => {
    const only = [makeAction("branch.delete", "delete_branch", "Delete branch", "destructive")];
    expect(createFinder(() => only).find("brnch dleete", { permitted: everything }).results).toEqual([]);
  });

  it("are not promoted by what the caller may not use or did not ask for", () => {
    for (const query of ["delte brnch", "rmeove mmber", "unprotct brnch"]) {
      const narrowed = find(query, { permitted: ({ effect }) => effect !== "read", limit: 50 });
      expect(narrowed.results[0]?.action.effect).not.toBe("destructive");
    }
    expect(find("brnch", { permitted: ({ effect }) => effect === "destructive" }).results).toEqual([]);
  });

  it("are given to a caller who filters for them", () => {
    const answer = find("branch", { effect: "destructive" });
    expect(answer.results.length).toBeGreaterThan(0);
    expect(answer.results.every(({ action }) => action.effect === "destructive")).toBe(true);
  });

  it("any one-letter mistake in the verb takes the lead away", () => {
    const rows = actions.filter(({ effect, id }) => effect === "destructive" && id.endsWith(".delete"));
    const queries = rows.flatMap(({ id }) =>
      ["dlete", "delte", "deleet", "delett", "remoe", "rmove", "erse"].map((verb) => `${verb} ${id.split(".")[0]?.replaceAll("_", " ")}`),
    );
    expect(queries.length).toBeGreaterThan(300);
    expect(queries.filter((query) => find(query).results[0]?.action.effect === "destructive")).toEqual([]);
  });
});

describe("options", () => {
  it("keeps to the toolset and the effect", () => {
    const answer = find("list everything about merge requests", { toolset: "ci", limit: 50 });
    expect(answer.results.every(({ action }) => action.toolset === "ci")).toBe(true);
    expect(find("branch", { effect: "write", limit: 50 }).results.every(({ action }) => action.effect === "write")).toBe(true);
  });

  it("returns five rows, as many as asked for, never more than fifty", () => {
    expect(find("merge request").results).toHaveLength(5);
    expect(find("merge request", { limit: 12 }).results).toHaveLength(12);
    expect(find("merge request", { limit: 500 }).results.length).toBeLessThanOrEqual(50);
    expect(find("merge request").count).toBeGreaterThan(5);
  });

  it("holds back what is not permitted, and says what it was", () => {
    const answer = find("create an issue", { permitted: ({ effect }) => effect === "read" });
    expect(answer.results.every(({ action }) => action.effect === "read")).toBe(true);
    expect(answer.withheld[0]?.id).toBe("issue.create");
    expect(answer.withheld.length).toBeLessThanOrEqual(10);
  });

  it("explains without changing the ranking", () => {
    const plain = find("retry the failed job", { limit: 20 });
    const explained = find("retry the failed job", { limit: 20, explain: true });
    expect(explained.results.map(({ action, score }) => [action.id, score])).toEqual(
      plain.results.map(({ action, score }) => [action.id, score]),
    );
    expect(explained.results[0]?.why?.length).toBeGreaterThan(0);
    expect(plain.results[0]).not.toHaveProperty("why");
  });

  it("suggests something where nothing matches", () => {
    const answer = find("qqqqxxyzzt");
    expect(answer.results).toEqual([]);
    expect(answer.confident).toBe(false);
    expect(answer.suggestions.length).toBeGreaterThan(0);
  });
});

describe("the index", () => {
  it("is built once per list, and again when the list is another one", () => {
    let reads = 0;
    const row = makeAction("thing.list", "list_things", "List things");
    const counted = new Proxy(row, {
      get(target, key, self) {
        if (key === "title") reads++;
        return Reflect.get(target, key, self);
      },
    });
    let list: readonly Action[] = [counted];
    const own = createFinder(() => list);
    own.find("things", { permitted: everything });
    const once = reads;
    own.find("things", { permitted: everything });
    expect(reads).toBe(once);
    list = [counted, makeAction("gadget.list", "list_gadgets", "List gadgets")];
    expect(own.find("gadgets", { permitted: everything }).results[0]?.action.id).toBe("gadget.list");
    expect(reads).toBeGreaterThan(once);
  });

  it("indexes an upstream's tools by their own schema", () => {
    const upstream = makeAction("weather.forecast", "weather_forecast", "Forecast", "read", {
      schema: { type: "object", properties: { latitude: { type: "number" } } },
    });
    expect(createFinder(() => [upstream]).find("latitude", { permitted: everything }).results[0]?.action.id).toBe("weather.forecast");
  });

  it("answers without any action", () => {
    expect(createFinder(() => []).find("list issues", { permitted: everything })).toMatchObject({ count: 0, results: [], suggestions: [] });
  });
});

describe("any input", () => {
  const text = fc.oneof(
    fc.string({ unit: "binary", maxLength: 400 }),
    fc.string({ unit: "grapheme", maxLength: 200 }),
    fc
      .array(
        fc.constantFrom(
          "delete",
          "mr",
          "__proto__",
          "constructor",
          "a|b",
          "!create",
          "?",
          "-",
          "=x",
          "^open",
          "\u0000",
          "\ud800",
          "の",
          "ß",
          "İ",
        ),
        { maxLength: 60 },
      )
      .map((words) => words.join(" ")),
  );

  it("is answered, never with an error, the same every time", () => {
    fc.assert(
      fc.property(text, (query) => {
        const one = find(query);
        expect(one.query).toBe(query);
        expect(one.results.length).toBeLessThanOrEqual(5);
        expect(one.results.length > 0 || one.suggestions.length > 0).toBe(true);
        expect(ids(find(query))).toEqual(ids(one));
        for (const { score } of one.results) expect(Number.isFinite(score)).toBe(true);
      }),
      { numRuns: 300 },
    );
  });

  it.each([
    ["empty", ""],
    ["blank", " \n\t"],
    ["only stop words", "the of and to a"],
    ["marks", "?!.,;"],
    ["control characters", "\u0001\u0002\u0003"],
  ])("%s: an empty answer with suggestions", (_, query) => {
    expect(find(query).results).toEqual([]);
    expect(find(query).suggestions.length).toBeGreaterThan(0);
  });

  it("any control characters, lone surrogates and joiners among words change nothing that is worth a failure", () => {
    const odd = fc.constantFrom(
      "\u0000",
      "\u0007",
      "\u001b[31m",
      "\u0085",
      "\u200b",
      "\u200d",
      "\u202e",
      "\ufeff",
      "\ud800",
      "\udfff",
      "\u0301",
      "🧑‍🚀",
    );
    fc.assert(
      fc.property(fc.array(odd, { maxLength: 40 }), fc.constantFrom("list merge requests", "合并请求", "найди ветку"), (marks, words) => {
        const answer = find(`${marks.join("")} ${words} ${marks.join(" ")}`);
        expect(answer.results.length).toBeGreaterThan(0);
        for (const { action } of answer.results)
          expect(action.effect === "destructive" && answer.results[0]?.action === action).toBe(false);
      }),
      { numRuns: 60 },
    );
  });

  it("a word without end says nothing and takes no time of its own", () => {
    expect(ids(find(`list issues ${"x".repeat(9_000)}`))[0]).toBe("issue.list");
    expect(ids(find(`list issues ${"QUJD/+".repeat(1_500)}`))[0]).toBe("issue.list");
    expect(ids(find(`list issues ${"Ж".repeat(9_000)}`))[0]).toBe("issue.list");
  });

  it("bears ten thousand characters and more", () => {
    for (const piece of ["list issues ", "漢字", "x", "delete_", "'"])
      expect(find(piece.repeat(12_000 / piece.length)).query.length).toBeGreaterThan(11_000);
  });
});

describe("permission", () => {
  it("is never passed over", () => {
    fc.assert(
      fc.property(
        fc.func(fc.boolean()),
        fc.constantFrom("delete branch", "issue", "merge request list", "branch.delete", "pipeline retry"),
        (allow, query) => {
          const permitted = (action: Action) => allow(action.id);
          const answer = find(query, { permitted, limit: 50 });
          return answer.results.every(({ action }) => permitted(action)) && answer.withheld.every((action) => !permitted(action));
        },
      ),
    );
  });
});
