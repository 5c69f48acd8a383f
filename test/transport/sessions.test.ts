import { mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, afterEach, beforeEach, describe, expect, it } from "vitest";
import { connectHttp } from "../support/clients.ts";
import {
  ACCEPT,
  type Crowd,
  call,
  handshake,
  markOf,
  namesOf,
  post,
  type Started,
  startCrowd,
  startHttp,
  tokenOf,
} from "../support/http.ts";

const KEY = "k".repeat(40);
const ISSUES = { action: "issue.list", params: { project_id: "users/1" } };
const LIST = { jsonrpc: "2.0", id: 7, method: "tools/list", params: {} };

let crowd: Crowd;
let server: Started | undefined;
beforeEach(async () => {
  crowd = await startCrowd();
});
afterEach(async () => {
  await server?.stop();
  server = undefined;
  await crowd.close();
});

async function start(...argv: string[]): Promise<Started> {
  server = await startHttp(argv, { GITLAB_URL: crowd.url });
  return server;
}
const token = (user: number, version = 1) => ({ "private-token": tokenOf(user, version) });

describe("ids", () => {
  it("missing is 400, unknown, forged, changed and ended are 404, and nothing is opened for them", async () => {
    const { url, held } = await start();
    const { session, id } = await handshake(url, token(1));
    expect((await post(url, LIST, token(1))).status).toBe(400);
    const forged = [
      `${id}x`,
      `x${id}`,
      "none",
      id.replace(/^./, (first) => (first === "e" ? "f" : "e")),
      `${id.split(".")[0]}.${"A".repeat(43)}`,
    ];
    for (const bad of forged) {
      const answer = await post(url, LIST, { ...token(1), "mcp-session-id": bad });
      expect([bad, answer.status, answer.messages[0]?.error?.code]).toEqual([bad, 404, -32_001]);
    }
    expect((await fetch(url, { method: "DELETE", headers: { ...session, ...token(1) } })).status).toBe(200);
    expect((await post(url, LIST, { ...session, ...token(1) })).status).toBe(404);
    expect(held().sessions).toBe(0);
  });

  describe("that were ended, after a restart with the same key", () => {
    const folder = mkdtempSync(join(tmpdir(), "ended-"));
    const endedFile = join(folder, "below", "ended-sessions");
    afterAll(() => rmSync(folder, { recursive: true }));
    const again = async (file: string) => {
      await server?.stop();
      server = await startHttp([`--session-key=${KEY}`], { GITLAB_URL: crowd.url }, { endedFile: file });
      return server;
    };

    it("are 404 still, while those that were left open carry on", async () => {
      const first = await again(endedFile);
      const gone = await handshake(first.url, token(1));
      const kept = await handshake(first.url, token(1));
      await fetch(first.url, { method: "DELETE", headers: { ...gone.session, ...token(1) } });
      for (const _restart of [1, 2]) {
        const { url } = await again(endedFile);
        expect((await post(url, LIST, { ...gone.session, ...token(1) })).status).toBe(404);
        expect((await post(url, LIST, { ...kept.session, ...token(1) })).status).toBe(200);
      }
      expect(statSync(endedFile).mode & 0o777).toBe(0o600);
      expect(readFileSync(endedFile, "utf8")).toMatch(/^[\w-]+ \d+\n$/);
    });

    it("are forgotten when their tickets are too old to be good, and lines that are no lines are dropped", async () => {
      const old = Math.floor(Date.now() / 1_000) - 8 * 86_400;
      writeFileSync(endedFile, `old ${old}\nyoung ${old + 5 * 86_400}\ntorn 17\0`);
      await again(endedFile);
      expect(readFileSync(endedFile, "utf8")).toBe(`young ${old + 5 * 86_400}\n`);
    });

    it("a file that cannot be written is told, and the server serves", async () => {
      const { url, logged } = await again(folder);
      expect(logged.join("\n")).toMatch(/ended sessions cannot be kept/);
      const { session } = await handshake(url, token(1));
      await fetch(url, { method: "DELETE", headers: { ...session, ...token(1) } });
      expect((await post(url, LIST, { ...session, ...token(1) })).status).toBe(404);
    });
  });

  it("an id tells no token and no name", async () => {
    const { url } = await start();
    const { id } = await handshake(url, token(1));
    const told = Buffer.from(id.split(".")[0] ?? "", "base64url").toString("utf8");
    expect(told).not.toContain(tokenOf(1));
    expect(told).not.toContain("user-1");
  });

  it("of a start with another key, or with none given, are worth nothing", async () => {
    const first = await start();
    const { session } = await handshake(first.url, token(1));
    await first.stop();
    const second = await start();
    expect((await post(second.url, LIST, { ...session, ...token(1) })).status).toBe(404);
  });
});

describe("whose session it is", () => {
  it("a stolen id with another user's token is refused, with none too; its owner goes on", async () => {
    const { url } = await start();
    const { session } = await handshake(url, token(1));
    const stolen = await post(url, LIST, { ...session, ...token(2) });
    expect([stolen.status, stolen.messages[0]?.result]).toEqual([403, undefined]);
    const bare = await post(url, LIST, session);
    expect([bare.status, bare.headers.get("www-authenticate")]).toEqual([401, expect.stringContaining("Bearer")]);
    for (const method of ["GET", "DELETE"]) {
      const answer = await fetch(url, { method, headers: { ...session, ...token(2), accept: "text/event-stream" } });
      expect(answer.status).toBe(403);
      await answer.text();
    }
    expect((await post(url, LIST, { ...session, ...token(1) })).status).toBe(200);
  });

  it("a refreshed token of the same user carries on, with its switches; facts are read again", async () => {
    const { url } = await start("--settle=0");
    const { session } = await handshake(url, token(1));
    await post(url, call("enable_toolset", { toolset: "ci" }), { ...session, ...token(1) });
    crowd.revoked.add(tokenOf(1));
    const before = crowd.seen.length;
    const list = await post(url, LIST, { ...session, ...token(1, 2) });
    expect(namesOf(list)).toContain("list_pipelines");
    expect(crowd.seen.slice(before)).toContain(tokenOf(1, 2));
    const used = await post(url, call("gitlab_execute_action", ISSUES), { ...session, ...token(1, 2) });
    expect(used.text).toContain(markOf(1));
    expect(crowd.seen.at(-1)).toBe(tokenOf(1, 2));
  });

  it("a token that GitLab refuses does not pass for its user", async () => {
    const { url } = await start();
    const { session } = await handshake(url, token(1));
    crowd.revoked.add(tokenOf(1, 2));
    expect((await post(url, LIST, { ...session, ...token(1, 2) })).status).toBe(401);
  });

  it("nobody's session becomes that of the first user, and of no second", async () => {
    const { url } = await start();
    const { session } = await handshake(url);
    expect((await post(url, LIST, session)).status).toBe(200);
    const anonymous = await post(url, call("gitlab_execute_action", ISSUES), session);
    expect(anonymous.messages.at(-1)?.result).toMatchObject({ isError: true, structuredContent: { code: "unauthenticated" } });
    expect(anonymous.text).toMatch(/PRIVATE-TOKEN/);
    expect(anonymous.text).not.toMatch(/GITLAB_TOKEN/);
    expect((await post(url, LIST, { ...session, ...token(3) })).status).toBe(200);
    expect((await post(url, LIST, { ...session, ...token(4) })).status).toBe(403);
    expect((await post(url, LIST, session)).status).toBe(401);
  });

  it("two users who come at the same moment do not both get it", async () => {
    const { url } = await start();
    const { session } = await handshake(url);
    const answers = await Promise.all([5, 6].map((user) => post(url, LIST, { ...session, ...token(user) })));
    expect(answers.map(({ status }) => status).sort()).toEqual([200, 403]);
  });

  it("a GitLab that hangs opens a session all the same, for the token that was shown", async () => {
    crowd.hang(true);
    const { url } = await start("--identify-timeout=100");
    const { answer, session } = await handshake(url, token(1));
    expect(answer.status).toBe(200);
    expect((await post(url, LIST, { ...session, ...token(1) })).status).toBe(200);
    expect((await post(url, LIST, { ...session, ...token(2) })).status).toBe(403);
  });
});

describe("a restart", () => {
  for (const kind of ["sdk1", "sdk2-legacy"] as const) {
    it(`${kind} carries on: its choice stands, what it had enabled is lost and told, calls by name still work`, async () => {
      const first = await start(`--session-key=${KEY}`);
      const port = first.port;
      const client = await connectHttp(kind, `${first.url}?toolsets=ci&prefix=gl_`, { headers: () => token(1), refreshes: true });
      const chosen = (await client.list()).map((tool) => tool.name);
      expect(chosen).toContain("gl_list_pipelines");
      await client.call("gl_enable_toolset", { toolset: "work_items" });
      expect((await client.list()).length).toBeGreaterThan(chosen.length);
      const told = client.changes();
      await first.stop();
      const { url } = await start(`--session-key=${KEY}`, `--port=${port}`);
      const health = () =>
        fetch(new URL("/healthz", url)).then(
          ({ status }) => status,
          () => 0,
        );
      await expect.poll(health).toBe(200);
      const result = await client.call("gl_list_issues", { project_id: "users/1" });
      expect([result.isError, result.text.includes(markOf(1))]).toEqual([false, true]);
      expect(client.changes()).toBe(told + 1);
      expect((await client.list()).map((tool) => tool.name)).toEqual(chosen);
      await client.close();
    });
  }

  it("does not give it to another user", async () => {
    const first = await start(`--session-key=${KEY}`);
    const { session } = await handshake(first.url, token(1));
    await first.stop();
    const second = await start(`--session-key=${KEY}`);
    expect((await post(second.url, LIST, { ...session, ...token(2) })).status).toBe(403);
    expect((await post(second.url, LIST, session)).status).toBe(401);
    expect((await post(second.url, LIST, { ...session, ...token(1, 2) })).status).toBe(200);
  });

  it("two requests at once revive one session", async () => {
    const first = await start(`--session-key=${KEY}`);
    const { session } = await handshake(first.url, token(1));
    await first.stop();
    const second = await start(`--session-key=${KEY}`);
    const answers = await Promise.all([1, 2, 3].map(() => post(second.url, LIST, { ...session, ...token(1) })));
    expect(answers.map(({ status }) => status)).toEqual([200, 200, 200]);
    expect(second.held().sessions).toBe(1);
  });
});

describe("caps", () => {
  it("the longest unused session makes room, and lives on when it is used again", async () => {
    const { url, held } = await start("--max-sessions=2");
    const one = await handshake(url, token(1));
    const two = await handshake(url, token(2));
    await post(url, LIST, { ...one.session, ...token(1) });
    await handshake(url, token(3));
    expect(held().sessions).toBe(2);
    expect((await post(url, LIST, { ...two.session, ...token(2) })).status).toBe(200);
    expect(held().sessions).toBe(2);
  });

  it("sessions that are all in use are not thrown out: the next one is told to come later", async () => {
    const { url } = await start("--max-sessions=1");
    const { session } = await handshake(url, token(1));
    const stream = await fetch(url, { headers: { ...ACCEPT, ...session, ...token(1), accept: "text/event-stream" } });
    const { answer } = await handshake(url, token(2));
    expect([answer.status, answer.headers.get("retry-after")]).toEqual([503, "30"]);
    await stream.body?.cancel();
  });
});
