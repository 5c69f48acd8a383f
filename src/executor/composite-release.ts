import type { Call, CallContext, Outcome } from "../catalog/types.ts";
import { BridgeError } from "../errors.ts";
import { type Composite, compact, type Fields, number, stopIfCancelled, text, toItems, toValue } from "./composite-read.ts";
import { estimateTokens } from "./tokens.ts";

/** Tokens of the draft. */
const MOST = 2_600;
/** Merge requests whose commits are asked for one by one, where no merge or squash commit tells them. */
const MOST_ASKED = 20;

/** Section of the notes → labels (whole or scoped, `type::bug`) that put a merge request there, in the order of the notes. */
const SECTIONS: readonly (readonly [title: string, labels: RegExp])[] = [
  ["Breaking changes", /breaking/i],
  ["Security", /security|vulnerability/i],
  ["Features", /feature|enhancement|improvement/i],
  ["Fixes", /bug|fix|defect|regression/i],
  ["Performance", /performance|speed/i],
  ["Documentation", /doc(s|umentation)?\b/i],
  ["Maintenance", /maintenance|refactor|chore|tech.*debt|dependenc|tooling|infrastructure/i],
];
const OTHER = "Other changes";
const APART = "Commits without a merge request";

interface Range {
  readonly from?: string;
  readonly to: string;
  /** `to` is a tag already. */
  readonly tagged: boolean;
}

const project = ({ params }: Call) => ({ project_id: params.project_id });

async function rangeOf(call: Call): Promise<Range> {
  const tags = toItems(await call.run("tag.list", { ...project(call), limit: 100, full: true }));
  const given = typeof call.params.to === "string" ? call.params.to : undefined;
  const to = given ?? text(toValue(await call.run("project.get", { ...project(call), full: true })), "default_branch");
  if (to === undefined)
    throw new BridgeError("not_found", "The project has no default branch: its repository is empty.", "Give to, if there is a branch.");
  const names = tags.flatMap((tag) => text(tag, "name") ?? []);
  const at = names.indexOf(to);
  const from = typeof call.params.from === "string" ? call.params.from : names[at + 1];
  return { to, tagged: at >= 0, ...(from === undefined ? {} : { from }) };
}

/** The fields that the notes need: a range may hold a thousand commits, and as many merge requests with long descriptions. */
const COMMIT = ["id", "short_id", "title", "parent_ids", "author_name", "committed_date"];
const REQUEST = ["iid", "title", "labels", "author.username", "merge_commit_sha", "squash_commit_sha", "sha"];

const isCut = (outcome: Outcome) => outcome.kind === "list" && outcome.page.next !== undefined;

const shaOf = (commit: Fields) => text(commit, "id") ?? "";

const parentsOf = (commit: Fields): string[] => (Array.isArray(commit.parent_ids) ? commit.parent_ids.map(String) : []);

async function commitsIn(call: Call, range: Range): Promise<{ readonly commits: readonly Fields[]; readonly cut: boolean }> {
  const ref_name = range.from === undefined ? range.to : `${range.from}..${range.to}`;
  const outcome = await call.run("commit.list", { ...project(call), ref_name, all: true, select: COMMIT });
  return { commits: toItems(outcome), cut: isCut(outcome) };
}

/** Merge requests that were merged since the first of the commits was made. */
async function mergedSince(call: Call, commits: readonly Fields[]): Promise<{ readonly merged: readonly Fields[]; readonly cut: boolean }> {
  const dates = commits.flatMap((commit) => text(commit, "committed_date") ?? []).map((date) => Date.parse(date));
  const oldest = Math.min(...dates.filter((date) => !Number.isNaN(date)));
  const since = Number.isFinite(oldest) ? { updated_after: new Date(oldest).toISOString() } : {};
  const outcome = await call.run("merge_request.list", { ...project(call), state: "merged", ...since, all: true, select: REQUEST });
  return { merged: toItems(outcome), cut: isCut(outcome) };
}

/** What a merge commit brought: the commits behind its second parent that are not behind its first. */
function broughtBy(merge: Fields, known: ReadonlyMap<string, Fields>): string[] {
  const [first, ...others] = parentsOf(merge);
  const reach = (starts: readonly string[]) => {
    const seen = new Set<string>();
    const todo = [...starts];
    for (let sha = todo.pop(); sha !== undefined; sha = todo.pop()) {
      const commit = known.get(sha);
      if (!commit || seen.has(sha)) continue;
      seen.add(sha);
      todo.push(...parentsOf(commit));
    }
    return seen;
  };
  const before = reach(first === undefined ? [] : [first]);
  return [...reach(others)].filter((sha) => !before.has(sha));
}

interface Found {
  readonly requests: readonly Fields[];
  readonly apart: readonly Fields[];
}

/** Which of the merge requests are in the range, and which commits none of them brought. */
async function match(call: Call, context: CallContext, commits: readonly Fields[], merged: readonly Fields[]): Promise<Found> {
  const known = new Map(commits.map((commit) => [shaOf(commit), commit]));
  const covered = new Set<string>();
  const requests: Fields[] = [];
  let asked = 0;
  for (const request of merged) {
    const marks = ["merge_commit_sha", "squash_commit_sha", "sha"]
      .flatMap((name) => text(request, name) ?? [])
      .filter((sha) => known.has(sha));
    if (marks.length === 0) continue;
    requests.push(request);
    for (const sha of marks) for (const one of [sha, ...broughtBy(known.get(sha) ?? {}, known)]) covered.add(one);
    const told = [text(request, "merge_commit_sha"), text(request, "squash_commit_sha")].some((sha) => sha !== undefined);
    if (told || asked++ >= MOST_ASKED) continue;
    stopIfCancelled(context);
    const own = await call.run("merge_request.commit_list", {
      ...project(call),
      merge_request_iid: number(request, "iid"),
      limit: 100,
      full: true,
    });
    for (const commit of toItems(own)) covered.add(shaOf(commit));
  }
  return { requests, apart: commits.filter((commit) => !covered.has(shaOf(commit)) && parentsOf(commit).length < 2) };
}

function sectionOf(request: Fields): string {
  const labels = Array.isArray(request.labels) ? request.labels.map(String) : [];
  return labels.flatMap((label) => SECTIONS.find(([, words]) => words.test(label))?.[0] ?? [])[0] ?? OTHER;
}

const requestLine = (request: Fields) =>
  `- ${text(request, "title")} (!${number(request, "iid")}, @${text(request, "author.username") ?? "unknown"})`;

const commitLine = (commit: Fields) =>
  `- ${text(commit, "title")} (${text(commit, "short_id") ?? shaOf(commit).slice(0, 8)}, ${text(commit, "author_name") ?? "unknown"})`;

type Section = readonly [title: string, lines: readonly string[]];

function sectionsOf({ requests, apart }: Found): Section[] {
  const of = (title: string): Section => [title, requests.filter((request) => sectionOf(request) === title).map(requestLine)];
  const all: Section[] = [...SECTIONS.map(([title]) => of(title)), of(OTHER), [APART, apart.map(commitLine)]];
  return all.filter(([, lines]) => lines.length > 0);
}

function write(sections: readonly Section[], most: number): string {
  const blocks = sections.map(([title, lines]) => {
    const left = lines.length - most;
    return [`## ${title}`, "", ...lines.slice(0, most), ...(left > 0 ? [`- … and ${left} more`] : [])].join("\n");
  });
  return blocks.join("\n\n");
}

/** The fullest draft that fits: fewer lines of each section, until it does. */
function draft(sections: readonly Section[], room: number): { readonly text: string; readonly cut: boolean } {
  const sizes = [500, 100, 60, 40, 25, 15, 8, 4, 2];
  const size = sizes.find((most) => estimateTokens(write(sections, most)) <= room) ?? 1;
  return { text: write(sections, size), cut: sections.some(([, lines]) => lines.length > size) };
}

const MANY = "there are more commits or merge requests than were read; give a later from";

/** Release notes since the last tag, made by reading only (TASKS.md, task 9); making the release is another action. */
export const draftReleaseNotes: Composite = async (call, context, room): Promise<Outcome> => {
  const range = await rangeOf(call);
  stopIfCancelled(context);
  const { commits, cut: more } = await commitsIn(call, range);
  context.progress?.({ progress: 1, total: 2, message: `${commits.length} commits` });
  const { merged, cut: fewer } = commits.length > 0 ? await mergedSince(call, commits) : { merged: [], cut: false };
  const found = await match(call, context, commits, merged);
  const { text: markdown, cut } = draft(sectionsOf(found), Math.min(MOST, room - 200));
  const next = {
    action: "release.create",
    params: compact({
      project_id: call.params.project_id,
      tag_name: range.tagged ? range.to : "<new tag>",
      ref: range.tagged ? undefined : range.to,
      description: "<the text below>",
    }),
  };
  return {
    kind: "text",
    text: markdown === "" ? "No changes." : markdown,
    value: compact({ from: range.from, to: range.to, merge_requests: found.requests.length, commits: commits.length, next }),
    project: String(call.params.project_id),
    ...(cut || more || fewer ? { truncated: more || fewer ? MANY : "long sections are cut to fit" } : {}),
    hint: "Read the draft, change it as wished, then release.create with it as description.",
    untrusted: true,
  };
};
