import { mkdtempSync, readdirSync, readFileSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { loadActions } from "../../src/catalog/load.ts";
import type { Outcome } from "../../src/catalog/types.ts";
import { BridgeError } from "../../src/errors.ts";
import { createRoad } from "../../src/executor/dispatch.ts";
import { createGitLabSource } from "../../src/executor/gitlab.ts";
import { createLog } from "../../src/log.ts";
import { createDoor } from "../../src/policy/door.ts";
import { createPolicy } from "../../src/policy/policy.ts";
import { createRegistry } from "../../src/registry/registry.ts";
import { renderError, renderOutcome } from "../../src/surface/render.ts";
import { minimal } from "../support/minimal.ts";
import { openRoad } from "../support/sandbox-road.ts";
import { settingsFor } from "../support/settings.ts";

const HOST = "https://gitlab.test";
const NEW = "glpat-n3wS3cretOfThisTest";
/** What GitLab calls a new secret, by action: `token` where it is not named here. */
const FIELDS: Readonly<Record<string, string>> = {
  "oauth_application.create": "secret",
  "oauth_application.secret_rotate": "secret",
  "user.support_pin_create": "pin",
};

const rows = loadActions().filter((action) => action.secret);

interface Ran {
  readonly outcome: Outcome | BridgeError;
  /** Everything that the client is shown, in both forms. */
  readonly shown: { readonly text: string; readonly json: string };
  readonly sent: string[];
  readonly logged: string;
}

async function run(id: string, mode: string, directory?: string): Promise<Ran> {
  const action = rows.find((row) => row.id === id);
  if (!action) throw new Error(id);
  const sent: string[] = [];
  const logged: string[] = [];
  const settings = settingsFor(
    `--url=${HOST}`,
    "--token=glpat-of-this-server-1",
    "--admin",
    "--confirm=off",
    "--allow-own-token",
    "--log-level=debug",
    `--reveal-secrets=${mode}`,
  );
  const log = createLog({ level: "debug", write: (line) => void logged.push(line) });
  const fetch = (async (input: URL | string, init: RequestInit = {}) => {
    sent.push(`${init.method} ${new URL(String(input)).pathname}`);
    return Response.json({ id: 7, name: "n", [FIELDS[id] ?? "token"]: NEW });
  }) as typeof globalThis.fetch;
  const place = directory === undefined ? {} : { secretsDirectory: directory };
  const source = createGitLabSource({ settings, door: createDoor(settings), log, version: "0", fetch, ...place });
  const road = createRoad({
    registry: createRegistry([source]),
    policy: createPolicy(settings),
    facts: () => ({}),
    normalize: (context) => ({ instance: HOST, ...source.people(context) }),
  });
  const context = { principal: { instance: HOST }, signal: new AbortController().signal, canAsk: false, meta: {} };
  const outcome = await road.run({ name: id, params: minimal(action), confirm: true }, context).catch((error: unknown) => {
    if (error instanceof BridgeError) return error;
    throw error;
  });
  const result = outcome instanceof BridgeError ? renderError(outcome) : renderOutcome(outcome);
  const text = result.content.map((block) => String(block.text)).join("\n");
  return { outcome, shown: { text, json: JSON.stringify(result.structuredContent) }, sent, logged: logged.join("") };
}

const writesOf = (sent: readonly string[]) => sent.filter((line) => !line.startsWith("GET"));
const times = (text: string) => text.split(NEW).length - 1;

describe("every action that makes or rotates a secret", () => {
  it("there are as many as GitLab has: whatever makes, rotates or resets a token, secret or PIN", () => {
    // Keys of people and webhooks are brought by the caller; a client key of error tracking is public.
    const others = /^(job_token_scope|error_tracking|deploy_key|ssh_key|gpg_key)\.|user\.(ssh|gpg)_key_/;
    const makes = loadActions().filter(
      ({ id, effect }) =>
        effect !== "read" &&
        /(token|secret|pin|credential|trigger).*(create|rotate|reset|generate)|runner\.create$/.test(id) &&
        !others.test(id),
    );
    const missing = makes.filter(({ secret }) => !secret).map(({ id }) => id);
    expect(missing).toEqual([]);
    expect(rows.length).toBeGreaterThanOrEqual(25);
  });

  it.each(rows.map(({ id }) => id))("%s: never → refused before anything is sent", async (id) => {
    const { outcome, sent, shown } = await run(id, "never", mkdtempSync(join(tmpdir(), "secrets-")));
    expect(outcome).toMatchObject({ code: "not_permitted", detail: { rule: "secrets" } });
    expect(writesOf(sent)).toEqual([]);
    expect(shown.text).toMatch(/Nothing was sent/);
  });

  it.each(rows.map(({ id }) => id))("%s: file → written once to a file of its own, mode 0600, and told nowhere else", async (id) => {
    const directory = mkdtempSync(join(tmpdir(), "secrets-"));
    const { outcome, sent, shown, logged } = await run(id, "file", directory);
    expect(outcome, String((outcome as BridgeError).message)).not.toBeInstanceOf(BridgeError);
    expect(writesOf(sent)).toHaveLength(1);
    const files = readdirSync(directory);
    expect(files).toHaveLength(1);
    const path = join(directory, files[0] ?? "");
    expect(readFileSync(path, "utf8").trim()).toBe(NEW);
    expect(statSync(path).mode & 0o777).toBe(0o600);
    expect(shown.text).toContain(path);
    expect(shown.json).toContain(path);
    expect(times(shown.text + shown.json + logged)).toBe(0);
  });

  it.each(rows.map(({ id }) => id))("%s: file, but nowhere to write → refused before anything is sent", async (id) => {
    for (const directory of [undefined, "/dev/null/place"]) {
      const { outcome, sent } = await run(id, "file", directory);
      expect(outcome).toMatchObject({ code: "not_permitted", detail: { rule: "secrets" } });
      expect(writesOf(sent)).toEqual([]);
    }
  });

  it.each(rows.map(({ id }) => id))("%s: result → in the answer, once per form, and not in the log", async (id) => {
    const { sent, shown, logged } = await run(id, "result");
    expect(writesOf(sent)).toHaveLength(1);
    expect([times(shown.text), times(shown.json)]).toEqual([1, 1]);
    expect(times(logged)).toBe(0);
  });
});

describe("values of CI variables", () => {
  const reads: readonly [string, Record<string, unknown>][] = [
    ["variable.list", { project_id: 101 }],
    ["variable.list", { project_id: 101, full: true }],
    ["variable.list", { project_id: 101, select: ["key", "value"] }],
    ["variable.get", { project_id: 101, key: "REGISTRY_PASSWORD" }],
    ["batch.run", { calls: [{ action: "variable.list", params: { project_id: 101 } }] }],
  ];

  it("are not given out by any read, and that is told", async () => {
    const road = await openRoad();
    for (const [name, params] of reads) {
      const { content, structuredContent } = renderOutcome(await road.run(name, params));
      const text = String(content[0]?.text);
      const json = JSON.stringify(structuredContent);
      for (const form of [text, json]) {
        expect(form, name).not.toMatch(/sandbox-registry-password|release-bot/);
        expect(form, name).toContain("[masked] stands for a secret");
      }
    }
    await road.close();
  });

  it("are with --reveal-secrets=result", async () => {
    const road = await openRoad({ flags: ["--reveal-secrets=result"] });
    for (const [name, params] of reads) {
      const { structuredContent } = renderOutcome(await road.run(name, params));
      expect(JSON.stringify(structuredContent), name).toContain("sandbox-registry-password");
      expect(JSON.stringify(structuredContent), name).not.toContain("[masked]");
    }
    await road.close();
  });
});
