import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { loadActions } from "../../src/catalog/load.ts";
import { stem, wordsOf } from "../../src/discovery/tokenize.ts";
import { loadVocabulary } from "../../src/discovery/vocabulary.ts";

/** Said the same everywhere: names of products, formats and protocols, and what nobody translates. */
const EVERYWHERE = new Set(
  (
    "ci cd api url ssh git gitlab github docker npm maven helm kubernetes k8s terraform opentofu jira slack teams okta saml sso scim ldap oauth " +
    "dora dsn okr okrs sast cve cves gpg ip id ids csv json yaml yml html sql http https mfa kas geo duo ai sentry sidekiq cron ok readme log logs " +
    "bot wiki emoji prod mr pr lgtm sha gist repo repos kanban diff commit sprint entra azure ad idp env var hub"
  ).split(" "),
);

const english = loadVocabulary().english;

/** What an English word or value stands for, in terms. */
function meanings(text: string): string[] {
  const plain = text.replace(/\*0\.\d+/g, "");
  const value = english.phrases.match([plain], 0, true)?.value ?? plain;
  const parts = `${plain} ${value}`.split(/[ |]/).map((part) => part.replace(/\*0\.\d+$/, "").replace(/^!/, ""));
  return parts
    .flatMap((part) => [part, ...part.split("_")])
    .map(stem)
    .filter(Boolean);
}

/** Words that the essential actions are made of: in names and titles of at least three of them. */
function workWords(): string[] {
  const counts = new Map<string, number>();
  for (const { essential, id, title, aliases = [], keywords = [] } of loadActions()) {
    if (!essential) continue;
    for (const word of new Set([id, title, ...aliases, ...keywords].flatMap(wordsOf))) counts.set(word, (counts.get(word) ?? 0) + 1);
  }
  return [...counts].filter(([word, count]) => count >= 3 && word.length > 1 && !/\d/.test(word)).map(([word]) => word);
}

const words = workWords().filter((word) => !english.stop.has(word) && !EVERYWHERE.has(word));

describe.each(["es", "de", "fr", "pt", "ru", "ja", "zh", "ko"])("the word list of %s", (name) => {
  const url = new URL(`../../src/discovery/data/find-${name}.json`, import.meta.url);
  const { phrases } = JSON.parse(readFileSync(url, "utf8")) as { phrases: Record<string, string> };
  const known = new Set(
    Object.values(phrases)
      .flatMap((value) => [value, ...value.split(/[ |]/)])
      .flatMap(meanings),
  );

  it("has words for what the essential actions are made of", () => {
    const missing = words.filter((word) => !meanings(word).some((term) => known.has(term)));
    expect(1 - missing.length / words.length, missing.join(" ")).toBeGreaterThanOrEqual(0.95);
  });
});
