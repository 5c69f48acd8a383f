import { expect } from "vitest";
import type { Agent, Reply } from "../support/agent.ts";
import { describeTasks, type Json, PROJECT, type Task, type World } from "../support/tasks.ts";

const MR = { project_id: PROJECT, merge_request_iid: 42 };

/** The lines of a text answer as this host shows them. */
const shown = (agent: Agent, reply: Reply): string[] => (agent.form === "text" ? reply.text : String(reply.json.text)).split("\n");

/** The number that the diff shows after the change for a line with these words: read off the answer as a model would. */
function lineOf(lines: readonly string[], words: string): { old?: number; new?: number } {
  const line = lines.find((one) => one.includes(words) && /^\s*\d+/.test(one));
  const [, old, fresh] = /^\s*(\d*)\s+(\d*)\s[ +-]/.exec(line ?? "") ?? [];
  const added = /^\s*\d+ \+/.test(line ?? "");
  if (added) return { new: Number(/\d+/.exec(line ?? "")?.[0]) };
  return { ...(old ? { old: Number(old) } : {}), ...(fresh ? { new: Number(fresh) } : {}) };
}

async function review({ agent, ask }: World): Promise<void> {
  const overview = await agent.discover("review merge request 42 at a glance", "merge_requests", "merge_request.overview");
  const first = await overview(MR);
  expect(first.isError, first.seen).toBe(false);
  for (const words of [/thread/, /merge_request\.diff_show/, /merge_request\.review/]) expect(first.seen).toMatch(words);
  const files = await agent.run("merge_request.diff_show", MR);
  expect(files.seen).toMatch(/src\/cart\/pricing\.ts \(\+6 -2\)/);
  const diff = await agent.run("merge_request.diff_show", { ...MR, paths: ["src/cart/pricing.ts", "src/cart/cart.ts"] });
  const added = lineOf(shown(agent, diff), "export function addCode");
  const kept = lineOf(shown(agent, diff), "export function clearCart");
  const removed = lineOf(shown(agent, diff), "const cart = carts.get(id) ?? { id, lines: [] };");
  const send = await agent.discover("review a merge request: comments on lines, approve", "merge_requests", "merge_request.review");
  const path = "src/cart/cart.ts";
  const done = await send({
    ...MR,
    comments: [
      { path, line: added.new, text: "Two codes must not add up here." },
      { path, line: kept.new, text: "Clear the codes as well." },
      { path, old_line: removed.old, text: "This one was simpler." },
    ],
    summary: "Good work.",
    approve: true,
  });
  expect(done.isError, done.seen).toBe(false);
  await reviewed(ask, { added, kept, removed });
}

type Lines = Record<"added" | "kept" | "removed", { old?: number; new?: number }>;

async function reviewed(ask: World["ask"], { added, kept, removed }: Lines): Promise<void> {
  const threads = (await ask("/projects/101/merge_requests/42/discussions?per_page=100")) as { notes: Json[] }[];
  const notes = threads.flatMap((thread) => thread.notes).filter((note) => (note.author as Json).username === "maria");
  const at = (words: string) => notes.find((note) => String(note.body).startsWith(words))?.position;
  expect(at("Two codes")).toMatchObject({ new_path: "src/cart/cart.ts", old_line: null, new_line: added.new });
  expect(at("Clear the codes")).toMatchObject({ old_line: kept.old, new_line: kept.new });
  expect(kept.old).not.toBe(kept.new);
  expect(at("This one")).toMatchObject({ old_line: removed.old, new_line: null });
  expect(notes.map((note) => note.body)).toContain("Good work.");
  expect(await ask("/projects/101/merge_requests/42/draft_notes")).toEqual([]);
  const approvals = (await ask("/projects/101/merge_requests/42/approvals")) as { approved_by: { user: Json }[] };
  expect(approvals.approved_by.map(({ user }) => user.username)).toContain("maria");
}

async function autoMerge({ agent, ask }: World): Promise<void> {
  const merge = await agent.discover("merge merge request when its pipeline succeeds", "merge_requests", "merge_request.merge");
  const seen = await agent.run("merge_request.get", { ...MR, select: ["sha", "head_pipeline.status"] });
  const sha = /[0-9a-f]{40}/.exec(seen.seen)?.[0];
  const done = await merge({ ...MR, auto_merge: true, sha, confirm: true });
  expect(done.isError, done.seen).toBe(false);
  expect(done.seen).toMatch(/auto-merge is set/i);
  expect(await ask("/projects/101/merge_requests/42")).toMatchObject({
    state: "opened",
    merge_when_pipeline_succeeds: true,
    sha,
  });
}

/** Merge requests that cannot be merged, and the words that must say why. */
const BLOCKED: readonly (readonly [iid: number, why: RegExp])[] = [
  [43, /draft/i],
  [44, /conflict/i],
  [45, /pipeline/i],
];

async function blocked({ agent, ask }: World, iid: number, why: RegExp): Promise<void> {
  const merge = await agent.discover("merge merge request when its pipeline succeeds", "merge_requests", "merge_request.merge");
  const done = await merge({ project_id: PROJECT, merge_request_iid: iid, auto_merge: true, confirm: true });
  const state = (await ask(`/projects/101/merge_requests/${iid}`)) as Json;
  expect(state.state).toBe("opened");
  expect(done.isError, done.seen).toBe(true);
  expect(done.seen).toMatch(why);
}

async function change({ agent, ask }: World): Promise<void> {
  const edit = await agent.discover("change lines in a file and open a merge request", "repository", "commit.edit");
  const read = await agent.run("repository.file_get", { project_id: PROJECT, file_path: "src/lib/money.ts", ref: "main", lines: "1-20" });
  const lines = shown(agent, read)
    .filter((line) => /^\s*(export|return|const)\b/.test(line))
    .slice(0, 3);
  expect(lines).toHaveLength(3);
  const done = await edit({
    project_id: PROJECT,
    branch: "fix/money",
    start_branch: "main",
    message: "Mark three lines",
    edits: lines.map((line, index) => ({ path: "src/lib/money.ts", old: line, new: `${line} // ${index}` })),
    merge_request: { title: "Mark three lines" },
  });
  expect(done.isError, done.seen).toBe(false);
  const [made] = (await ask("/projects/101/merge_requests?source_branch=fix/money")) as Json[];
  expect(made).toMatchObject({ title: "Mark three lines", state: "opened", target_branch: "main" });
  const diff = (await ask(`/projects/101/merge_requests/${made?.iid}/diffs`)) as Json[];
  expect(diff).toHaveLength(1);
  for (const [index, line] of lines.entries()) expect(diff[0]?.diff).toContain(`+${line} // ${index}`);
}

async function protectedBranch({ agent, ask }: World): Promise<void> {
  const edit = await agent.discover("change lines in a file and open a merge request", "repository", "commit.edit");
  const before = (await ask("/projects/101/repository/branches/main")) as { commit: Json };
  const params = { project_id: PROJECT, message: "Say more", edits: [{ path: "README.md", old: "# ", new: "# The " }] };
  const refused = await edit({ ...params, branch: "main" });
  expect(refused.isError).toBe(true);
  expect(refused.seen).toMatch(/protected/);
  expect(refused.seen).toMatch(/start_branch/);
  expect(await ask("/projects/101/repository/branches/main")).toMatchObject({ commit: { id: before.commit.id } });
}

const TASKS: readonly Task[] = [
  { name: "1. review !42: overview, files, one diff, comments on lines, approval", calls: 10, tokens: 9_000, run: review },
  { name: "4. merge !42 when its pipeline succeeds", calls: 4, tokens: 4_000, run: autoMerge },
  ...BLOCKED.map(
    ([iid, why]): Task => ({
      name: `4b. the same for !${iid}, which cannot be merged: ${why.source}`,
      calls: 4,
      tokens: 4_000,
      run: (world) => blocked(world, iid, why),
    }),
  ),
  { name: "5. change three lines and open a merge request", calls: 4, tokens: 4_000, run: change },
  {
    name: "5b. the same on a protected branch: refused, and what can be done",
    calls: 4,
    tokens: 4_000,
    token: "jonas",
    run: protectedBranch,
  },
];

describeTasks("daily work on merge requests", TASKS);
