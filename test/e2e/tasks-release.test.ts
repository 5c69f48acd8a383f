import { mkdtempSync, readFileSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, expect } from "vitest";
import { describeTasks, type Json, PROJECT, type Task, type World } from "../support/tasks.ts";

const home = mkdtempSync(join(tmpdir(), "bridge-home-"));
afterAll(() => rmSync(home, { recursive: true, force: true }));

/** The Markdown inside the frame that marks it as written by others. */
const framed = (text: string): string => /<<<gitlab-data[^\n]*\n([\s\S]*)\ngitlab-data>>>/.exec(text)?.[1] ?? "";

async function release({ agent, ask }: World): Promise<void> {
  const [tag] = (await ask("/projects/101/repository/tags")) as Json[];
  const draft = await agent.discover("draft release notes since the last tag", "releases", "release.notes_draft");
  const notes = await draft({ project_id: PROJECT });
  expect(notes.isError, notes.seen).toBe(false);
  const markdown = agent.form === "text" ? framed(notes.text) : String(notes.json.text);
  const merged = (await ask(`/projects/101/repository/compare?from=${tag?.name}&to=main`)) as { commits: Json[] };
  const requests = (await ask("/projects/101/merge_requests?state=merged&per_page=100")) as Json[];
  const shas = new Set(merged.commits.map(({ id }) => id));
  const inRange = requests.filter(({ merge_commit_sha }) => shas.has(merge_commit_sha));
  expect(inRange.length).toBeGreaterThan(3);
  for (const { title, iid } of inRange) expect(markdown).toContain(`${title} (!${iid}`);
  for (const { title, iid } of requests.filter((request) => !inRange.includes(request)))
    expect(markdown).not.toContain(`${title} (!${iid}`);
  const features = markdown.slice(markdown.indexOf("## Features"), markdown.indexOf("## Fixes"));
  for (const { title, labels } of inRange) if ((labels as string[]).includes("feature")) expect(features).toContain(title);
  const made = await agent.run("release.create", { project_id: PROJECT, tag_name: "v1.5.0", ref: "main", description: markdown });
  expect(made.isError, made.seen).toBe(false);
  expect(await ask("/projects/101/releases/v1.5.0")).toMatchObject({ tag_name: "v1.5.0", description: markdown });
}

type Reveal = "result" | "file" | "never";

interface Rotated {
  readonly isError: boolean;
  readonly seen: string;
}

async function works({ sandbox }: World, secret: string): Promise<boolean> {
  const reply = await fetch(`${sandbox.url}/api/v4/projects/101`, { headers: { "PRIVATE-TOKEN": secret } });
  return reply.status === 200;
}

/** Every token of the sandbox begins so; a rotated one ends in a number of its own. */
const SECRET = /sandbox-token-project-deploy-r\d+/;

async function delivered(world: World, done: Rotated, reveal: Reveal): Promise<void> {
  const secret = SECRET.exec(done.seen)?.[0];
  if (reveal === "result") return expect(await works(world, secret ?? "")).toBe(true);
  expect(secret).toBeUndefined();
  if (reveal === "never") return expect(done.seen).toMatch(/makes a new secret, and this server gives out none/);
  const path = /\/[^\s"]*\.gitlab-toolset-bridge\/secrets\/[^\s"]+/.exec(done.seen)?.[0] ?? "";
  expect(statSync(path).mode & 0o777).toBe(0o600);
  expect(await works(world, SECRET.exec(readFileSync(path, "utf8"))?.[0] ?? "")).toBe(true);
}

async function rotate(world: World, reveal: Reveal): Promise<void> {
  const { agent, ask } = world;
  const before = (await ask("/projects/101/access_tokens")) as Json[];
  const old = before.find(({ name }) => name === "deploy-pipeline");
  const found = agent.discover("rotate a project access token", "tokens", "access_token.rotate");
  // What could never be handed over is not offered; called by its id all the same, it says why.
  if (reveal === "never") await expect(found).rejects.toThrow(/not access_token\.rotate|no access_token\.rotate/);
  const run = reveal === "never" ? (params: Json) => agent.run("access_token.rotate", params) : await found;
  const listed = await agent.run("access_token.list", { project_id: PROJECT });
  expect(listed.seen).toContain(String(old?.id));
  const done = await run({ project_id: PROJECT, token_id: old?.id, confirm: true });
  const after = (await ask("/projects/101/access_tokens?state=active")) as Json[];
  expect(done.isError, done.seen).toBe(reveal === "never");
  expect(after.some(({ id }) => id === old?.id)).toBe(reveal === "never");
  await delivered(world, done, reveal);
}

async function unconfirmed({ agent, ask }: World): Promise<void> {
  const run = await agent.discover("rotate a project access token", "tokens", "access_token.rotate");
  const done = await run({ project_id: PROJECT, token_id: 10 });
  expect(done.isError).toBe(true);
  expect(done.seen).toMatch(/confirm/);
  const active = (await ask("/projects/101/access_tokens?state=active")) as Json[];
  expect(active.map(({ id }) => id)).toContain(10);
}

const TASKS: readonly Task[] = [
  ...(["result", "file", "never"] as const).map(
    (reveal): Task => ({
      name: `7. rotate a project access token, with --reveal-secrets=${reveal}`,
      calls: 4,
      tokens: 3_000,
      flags: [`--reveal-secrets=${reveal}`],
      env: () => ({ HOME: home }),
      run: (world) => rotate(world, reveal),
    }),
  ),
  { name: "7b. the same without agreement: nothing is sent", calls: 4, tokens: 3_000, run: unconfirmed },
  { name: "9. release notes since the last tag, then the release", calls: 4, tokens: 5_000, run: release },
];

describeTasks("daily work on releases and tokens", TASKS);
