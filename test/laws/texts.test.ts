import { describe, test } from "vitest";
import { expectBites, expectKept, type Law } from "./law.ts";

const MAX_TITLE = 50;
const MAX_ABOUT = { essential: 200, other: 110 };

const titles: Law = (rows) =>
  rows.flatMap(({ id, title }) => [
    ...(/^[A-Z]/.test(title) ? [] : [`${id}: the title does not begin with a capital`]),
    ...(title.length <= MAX_TITLE ? [] : [`${id}: title longer than ${MAX_TITLE}`]),
    ...(/[.!]$|_|\s{2}|^\s|\s$/.test(title) ? [`${id}: a title is a plain phrase`] : []),
  ]);

const abouts: Law = (rows) =>
  rows.flatMap(({ id, title, about, essential }) => {
    const most = essential ? MAX_ABOUT.essential : MAX_ABOUT.other;
    return [
      ...(about.length >= 10 && /^\S.*[.?]$/s.test(about) ? [] : [`${id}: about is a sentence, with its full stop`]),
      ...(about.length <= most ? [] : [`${id}: about has ${about.length} characters, ${most} is the most`]),
      ...(about.replace(/\W/g, "").toLowerCase() === title.replace(/\W/g, "").toLowerCase() ? [`${id}: about repeats the title`] : []),
      ...(/\n|\s{2}|TODO|FIXME/.test(about) ? [`${id}: about is one line of plain text`] : []),
    ];
  });

const notRepeated: Law = (rows) => {
  const seen = new Map<string, string>();
  return rows.flatMap(({ id, about }) => {
    const first = seen.get(about);
    seen.set(about, first ?? id);
    return first === undefined ? [] : [`${id}: says the same as ${first}`];
  });
};

/** The same sentence in two descriptions says nothing of either: none stands twice, where 2 % of all would be allowed. */
const noBoilerplate: Law = (rows) => {
  const seen = new Map<string, string>();
  return rows.flatMap(({ id, about }) =>
    about.split(/(?<=[.?])\s+/).flatMap((sentence) => {
      const first = seen.get(sentence);
      seen.set(sentence, first ?? id);
      return first === undefined ? [] : [`${id}: "${sentence}" stands in ${first} too`];
    }),
  );
};

/** A description is read without its neighbours: "it" and "the same" point to nothing there. */
const standsAlone: Law = (rows) =>
  rows.flatMap(({ id, about }) =>
    /^(It|Its|They|Their|The same|These|Those|Such)\b|\b[Oo]ne such\b/.test(about) ? [`${id}: points to what is not there`] : [],
  );

/** Aggregators rename tools, so a text that names one leads nowhere: texts name purposes. */
const noToolNames: Law = (rows) => {
  const names = new Set(rows.flatMap(({ id, tool }) => [id, tool]).filter((name) => /[._]/.test(name)));
  return rows.flatMap(({ id, about }) =>
    (about.match(/[a-z0-9]+(?:[._][a-z0-9]+)+/g) ?? []).filter((word) => names.has(word)).map((word) => `${id}: names ${word}`),
  );
};

const keywords: Law = (rows) =>
  rows.flatMap(({ id, essential, keywords: words = [] }) => [
    ...(essential && (words.length < 2 || words.length > 8) ? [`${id}: ${words.length} keywords, an essential row has 2 to 8`] : []),
    ...(!essential && words.length > 4 ? [`${id}: ${words.length} keywords, 4 is the most`] : []),
    ...(new Set(words).size === words.length ? [] : [`${id}: a keyword twice`]),
    ...words.filter((word) => word.trim() === "" || word.length > 40).map((word) => `${id}: keyword ${word}`),
  ]);

/** After an essential action comes another: one to three of them are named. */
const followed: Law = (rows) =>
  rows.flatMap(({ id, essential, next = [] }) =>
    next.length > 3 || (essential && next.length === 0) ? [`${id}: ${next.length} next actions`] : [],
  );

describe("texts", () => {
  test("titles are short phrases", () => {
    expectKept(titles);
    expectBites(
      titles,
      { title: "" },
      { title: "get thing" },
      { title: "Get thing." },
      { title: "Get_thing" },
      { title: `G${"x".repeat(50)}` },
    );
  });

  test("every action says what it is for", () => {
    expectKept(abouts);
    expectBites(
      abouts,
      { about: "" },
      { about: "No full stop at the end" },
      { about: `${"x".repeat(110)}.` },
      { about: "Get thing." },
      { about: "Two\nlines are here." },
    );
    expectBites(abouts, { essential: true, about: `${"x".repeat(200)}.` });
  });

  test("no two say the same", () => {
    expectKept(notRepeated);
    expectBites(notRepeated, { about: "One thing of a project." });
  });

  test("no sentence stands in two of them", () => {
    expectKept(noBoilerplate);
    expectBites(noBoilerplate, { about: "Another one. One thing of a project." });
  });

  test("each stands alone", () => {
    expectKept(standsAlone);
    expectBites(standsAlone, { about: "The same for one project." }, { about: "It is gone then." }, { about: "One such thing by key." });
  });

  test("they name purposes, not tools", () => {
    expectKept(noToolNames);
    expectBites(noToolNames, { about: "Not the same as get_thing." }, { about: "Use thing.get first." });
  });

  test("keywords are few", () => {
    expectKept(keywords);
    expectBites(
      keywords,
      { keywords: ["a", "b", "c", "d", "e"] },
      { essential: true, keywords: ["one"] },
      { keywords: ["twice", "twice"] },
    );
  });

  test("an essential action says what people do next", () => {
    expectKept(followed);
    expectBites(followed, { essential: true }, { next: ["a.get", "b.get", "c.get", "d.get"] });
  });
});
