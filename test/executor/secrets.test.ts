import { mkdtempSync, readdirSync, readFileSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { loadActions } from "../../src/catalog/load.ts";
import type { Outcome } from "../../src/catalog/types.ts";
import { BridgeError } from "../../src/errors.ts";
import type { Fetch } from "../../src/executor/exchange.ts";
import { createLog, MASK } from "../../src/log.ts";
import { isRaw } from "../../src/policy/call-effects.ts";
import { askedFields } from "../../src/policy/graphql.ts";
import { renderError, renderOutcome } from "../../src/surface/render.ts";
import { AT_HOST, HOST, roadOver } from "../support/gitlab-road.ts";
import { minimal } from "../support/minimal.ts";
import { type Answer, recordingRoad } from "../support/recorder.ts";
import { openRoad } from "../support/sandbox-road.ts";
import { settingsFor } from "../support/settings.ts";

const NEW = "glpat-n3wS3cretOfThisTest";
/** What GitLab calls a new secret, by action: `token` where it is not named here. */
const FIELDS: Readonly<Record<string, string>> = {
  "oauth_application.create": "secret",
  "oauth_application.secret_rotate": "secret",
  "user.support_pin_create": "pin",
};

const rows = loadActions().filter((action) => action.secret && action.effect !== "read");

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
    ...AT_HOST,
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
  }) as Fetch;
  const { road } = roadOver(fetch, settings, {}, { log, ...(directory === undefined ? {} : { secretsDirectory: directory }) });
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
    // By what GitLab calls the answers that hold one, whatever an action of ours is called.
    const gives = loadActions().filter(
      ({ effect, entity = "" }) =>
        effect !== "read" && /With(?:Token|Secret)$|ResetTokenResult$|RegistrationDetails$|SupportPin$/.test(entity),
    );
    expect(gives.filter(({ secret }) => !secret).map(({ id }) => id)).toEqual([]);
    expect(gives.length).toBeGreaterThan(15);
    // Documents of ours ask for none, so that no answer of theirs can hold one.
    const asks = loadActions().flatMap(({ id, graphql }) =>
      graphql === undefined ? [] : askedFields(graphql).map(({ name }) => `${id} ${name}`),
    );
    expect(asks.filter((one) => /(?:token|secret|password|private_?key|dsn|pin)$/i.test(one))).toEqual([]);
    expect(asks.length).toBeGreaterThan(500);
    expect(rows.length).toBeGreaterThanOrEqual(25);
  });

  it.each(rows.map(({ id }) => id))("%s: never → refused before anything is sent", async (id) => {
    const { outcome, sent, shown } = await run(id, "never", mkdtempSync(join(tmpdir(), "secrets-")));
    expect(outcome).toMatchObject({ code: "not_permitted", detail: { rule: "secrets" } });
    expect(sent).toEqual([]);
    expect(shown.text).toMatch(/this server gives out none\.\nWhoever runs this server set it/);
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

/** What GitLab calls its secrets, wherever they stand; REST and GraphQL spell them differently. */
const SECRET_NAMES = [
  "token",
  "runners_token",
  "private_token",
  "feed_token",
  "incoming_email_token",
  "static_object_token",
  "invite_token",
  "access_token",
  "secret",
  "password",
  "health_check_access_token",
  "runners_registration_token",
  "mailgun_signing_key",
  "external_auth_client_key_pass",
  "asset_proxy_secret_key",
  "shared_secret",
  "pin",
  "X-Gitlab-Token",
  "ephemeralAuthenticationToken",
  "verificationToken",
];

/** An answer full of secrets, and what a caller asked for beside them. */
const FULL_OF_SECRETS = {
  id: 1,
  iid: 1,
  name: "n",
  title: "t",
  state: "opened",
  ...Object.fromEntries(SECRET_NAMES.map((name) => [name, NEW])),
  import_url: `https://bot:${NEW}@gitlab.test/a.git`,
  variables: [{ key: "K", value: NEW, variable_type: "env_var" }],
  tokens: { token: [{ password: NEW, token: [NEW] }] },
  nested: { deeper: [{ ...Object.fromEntries(SECRET_NAMES.map((name) => [name, NEW])) }] },
};

describe("secrets that are there already", () => {
  const others = loadActions().filter((action) => !isRaw(action) && !action.secret);

  it("are masked in the answer of every other action, whole or picked, by reads and by writes", { timeout: 120_000 }, async () => {
    const answers: Answer = ({ url, method }) => {
      if (url.pathname.endsWith("/graphql")) return Response.json({ data: { thing: { ...FULL_OF_SECRETS, errors: [] } } });
      return Response.json(method === "GET" && !/\/1$/.test(url.pathname) ? [FULL_OF_SECRETS] : FULL_OF_SECRETS);
    };
    const road = recordingRoad(["--admin", "--confirm=off", "--allow-own-token", "--max-writes-per-minute=10000"], answers, { token: 7 });
    const told: string[] = [];
    let shown = 0;
    for (const action of others) {
      // Texts and files are what somebody put into them.
      if (action.returns === "text" || action.returns === "binary") continue;
      for (const wanted of [{}, { full: true }, { select: ["name", "nested", ...SECRET_NAMES] }]) {
        const taken = Object.keys(wanted).some((name) => Object.hasOwn(action.params, name)) ? {} : wanted;
        const soon = action.params.timeout ? { timeout: 1 } : {};
        const outcome = await road.run(action.id, { ...minimal(action), ...soon, ...taken }).catch(() => undefined);
        if (!outcome || outcome.kind === "needs_input") continue;
        shown++;
        if (JSON.stringify([outcome, renderOutcome(outcome)]).includes(NEW)) told.push(`${action.id} ${JSON.stringify(taken)}`);
      }
    }
    expect(told).toEqual([]);
    expect(shown).toBeGreaterThan(2_000);
  });

  it("the same answer is told whole where the operator says so: the search above could have found them", async () => {
    const road = recordingRoad(["--reveal-secrets=result"], () => Response.json(FULL_OF_SECRETS));
    const outcome = await road.run("project.get", { project_id: 1, full: true });
    expect(JSON.stringify(outcome).split(NEW).length - 1).toBeGreaterThan(SECRET_NAMES.length);
  });

  it.each<[string, Record<string, unknown>]>([
    ["pipeline.trigger", { project_id: 1, ref: "main", token: NEW, variables: { DEPLOY: NEW } }],
    ["pipeline.create", { project_id: 1, ref: "main", variables: [{ key: "K", value: NEW }] }],
    ["webhook.create", { project_id: 1, url: "https://a.test", token: NEW, custom_headers: [{ key: "Authorization", value: NEW }] }],
    ["webhook.update", { project_id: 1, hook_id: 1, url: "https://a.test", url_variables: [{ key: "k", value: NEW }] }],
    ["remote_mirror.create", { project_id: 1, url: `https://bot:${NEW}@gitlab.test/a.git` }],
    ["project.create", { name: "n", import_url: `https://bot:${NEW}@gitlab.test/a.git` }],
    ["pages_domain.create", { project_id: 1, domain: "a.test", key: NEW }],
    ["license.add", { license: NEW }],
    ["application.settings_update", { mailgun_signing_key: NEW, external_auth_client_key_pass: NEW, asset_proxy_secret_key: NEW }],
    ["integration.slack_set", { project_id: 1, webhook: NEW }],
    ["user.create", { email: "a@a.test", name: "n", username: "u", password: NEW }],
    [
      "gitlab.rest",
      { method: "POST", path: "/projects/1/pipeline", query: { ref: "main", "variables[][key]": "K", "variables[][value]": NEW } },
    ],
    ["gitlab.rest", { method: "POST", path: "/projects/1/trigger/pipeline", body: { token: NEW, variables: { DEPLOY: NEW } } }],
    ["gitlab.graphql", { document: "mutation($input: X!) { a(input: $input) { errors } }", variables: { input: { accessToken: NEW } } }],
  ])("%s: what a call brings along is masked in its preview, in the question before it and in the audit", async (name, params) => {
    const lines: string[] = [];
    const audit = { identity: "name" as const, write: (line: object) => void lines.push(JSON.stringify(line)) };
    const answer: Answer = () => Response.json({}, { status: 404 });
    const shown = await recordingRoad(["--admin", "--allow-raw", "--safe-mode"], answer, {}, { audit }).run(name, params);
    expect(shown.kind).toBe("preview");
    expect(JSON.stringify([shown, renderOutcome(shown)])).not.toContain(NEW);
    expect(JSON.stringify(shown)).toContain(MASK);
    expect(lines.length).toBeGreaterThan(0);
    expect(lines.join("")).not.toContain(NEW);
  });

  it("a person who is asked is not shown the token that a call names, nor is anybody else", async () => {
    const canAsk = { principal: { instance: HOST }, signal: new AbortController().signal, canAsk: true, meta: {} };
    const road = recordingRoad(["--admin"], undefined, { token: null, digest: "another" }, {}, canAsk);
    for (const [name, params] of [
      ["admin_token.revoke", { token: NEW }],
      ["token.by_value_revoke", { group_id: 1, token: NEW }],
      ["runner.token_by_value_reset", { token: NEW }],
    ] as const) {
      const outcome = await road.run(name, params);
      expect(outcome.kind, name).toBe("needs_input");
      expect(JSON.stringify(outcome), name).not.toContain(NEW);
      expect(JSON.stringify(outcome), name).toContain(MASK);
    }
  });

  it("an error that tells how to look for what was done tells no secret", async () => {
    const road = recordingRoad(["--admin", "--confirm=off", "--allow-own-token"], ({ method }) => {
      if (method === "GET") return Response.json([]);
      throw new TypeError("fetch failed", { cause: Object.assign(new Error("reset"), { code: "ECONNRESET" }) });
    });
    const told: string[] = [];
    for (const action of loadActions().filter(({ effect, composite }) => effect !== "read" && composite === undefined)) {
      const names = Object.keys(action.params).filter(
        (name) => action.params[name]?.type === "string" && /(?:^|_)(?:token|secret|password|private_key)$/.test(name),
      );
      if (names.length === 0) continue;
      const params = { ...minimal(action), ...Object.fromEntries(names.map((name) => [name, NEW])) };
      const error = await road.run(action.id, params).catch((thrown: unknown) => thrown);
      if (error instanceof BridgeError && JSON.stringify([renderError(error), error.detail]).includes(NEW)) told.push(action.id);
    }
    expect(told).toEqual([]);
  });
});

describe("an error that quotes what was sent", () => {
  it.each<[string, Record<string, unknown>]>([
    ["variable.create", { project_id: 1, key: "K", value: "own-s3cret-value" }],
    ["user.create", { email: "a@a.test", name: "n", username: "u", password: "own-s3cret-value" }],
    ["user.create", { email: "a@a.test", name: "n", username: "u", password: ["own-s3cret-value"] }],
    ["webhook.create", { project_id: 1, url: "https://a.test", custom_headers: [{ key: "A", value: "own-s3cret-value" }] }],
    ["pipeline.trigger", { project_id: 1, ref: "main", token: "t0ken-of-trigger", variables: "own-s3cret-value" }],
    ["pipeline.trigger", { project_id: 1, ref: "main", token: "own-s3cret-value", variables: { A: "x" } }],
    ["gitlab.rest", { method: "PUT", path: "/projects/1", body: { runners_token: "own-s3cret-value" } }],
  ])("%s %j: tells nothing of the secrets in it", async (name, params) => {
    const lines: string[] = [];
    const audit = { identity: "name" as const, write: (line: object) => void lines.push(JSON.stringify(line)) };
    const said = { message: { value: ["own-s3cret-value is no good"], "own-s3cret-value": ["is bad"] } };
    const road = recordingRoad(["--admin", "--confirm=off", "--allow-raw"], () => Response.json(said, { status: 400 }), {}, { audit });
    const error = await road.run(name, params).catch((thrown: unknown) => thrown);
    expect(error).toBeInstanceOf(BridgeError);
    expect(JSON.stringify([renderError(error), (error as BridgeError).detail, lines])).not.toContain("own-s3cret-value");
  });

  it("keeps its words otherwise", async () => {
    const road = recordingRoad(["--confirm=off"], () => Response.json({ message: "plain words" }, { status: 400 }));
    await expect(road.run("variable.create", { project_id: 1, key: "K", value: "own-s3cret-value" })).rejects.toThrow(/plain words/);
  });
});

describe("files that hold secrets", () => {
  const download = { project_id: 1, secure_file_id: 1 };
  const open = (...flags: string[]) => recordingRoad(flags, () => new Response(NEW, { headers: { "content-type": "text/plain" } }));

  it("stand in an answer only where the operator says so", async () => {
    for (const flags of [["--reveal-secrets=never"], ["--reveal-secrets=file"]]) {
      const road = open(...flags);
      await expect(road.run("secure_file.download", download)).rejects.toMatchObject({
        code: "not_permitted",
        detail: { rule: "secrets" },
      });
      await expect(
        open(...flags, "--allow-raw").run("gitlab.rest", { method: "GET", path: "/projects/1/secure_files/1/download" }),
      ).rejects.toMatchObject({ code: "not_permitted", detail: { rule: "secrets" } });
      expect(road.sent).toEqual([]);
    }
    expect(JSON.stringify(await open("--reveal-secrets=result").run("secure_file.download", download))).toContain(NEW);
  });

  it("are saved where files may be, unless nothing may be told", async () => {
    const directory = mkdtempSync(join(tmpdir(), "secrets-"));
    const saved = { ...download, save_as: "a.p12" };
    await expect(open("--reveal-secrets=never", `--files-dir=${directory}`).run("secure_file.download", saved)).rejects.toMatchObject({
      detail: { rule: "secrets" },
    });
    expect(readdirSync(directory)).toEqual([]);
    const outcome = await open("--reveal-secrets=file", `--files-dir=${directory}`).run("secure_file.download", saved);
    expect(readFileSync(join(directory, "a.p12"), "utf8")).toBe(NEW);
    expect(JSON.stringify(outcome)).not.toContain(NEW);
  });
});

describe("requests written by hand", () => {
  it.each<[string, Record<string, unknown>]>([
    ["gitlab.rest", { method: "POST", path: "/ai/duo_workflows/direct_access" }],
    ["gitlab.rest", { method: "POST", path: "/code_suggestions/direct_access.json" }],
    ["gitlab.rest", { method: "POST", path: "/runners", body: { token: "x" } }],
    ["gitlab.graphql", { document: "mutation { clusterAgentTokenCreate(input: {}) { errors } }" }],
    ["gitlab.graphql", { document: "mutation { x: httpIntegrationResetToken(input: {}) { errors } }" }],
    ["gitlab.graphql", { document: "mutation { runnerCreate(input: {}) { errors } }" }],
  ])("%s %j: makes a secret that nobody would get, so nothing is sent", async (name, params) => {
    const road = recordingRoad(["--allow-raw", "--confirm=off", "--admin", "--allow-own-token"]);
    await expect(road.run(name, params)).rejects.toMatchObject({ code: "not_permitted", detail: { rule: "secrets" } });
    expect(road.sent).toEqual([]);
    const telling = recordingRoad(["--allow-raw", "--confirm=off", "--admin", "--allow-own-token", "--reveal-secrets=result"], () =>
      Response.json({ data: { a: 1 } }),
    );
    await telling.run(name, params);
    expect(telling.sent).toHaveLength(1);
  });

  it("others are let through", async () => {
    const road = recordingRoad(["--allow-raw", "--confirm=off"], () => Response.json({ data: { a: 1 } }));
    await road.run("gitlab.graphql", { document: "mutation { projectSecretCreate(input: {}) { errors } }" });
    await road.run("gitlab.rest", { method: "GET", path: "/runners" });
    expect(road.sent).toHaveLength(2);
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
