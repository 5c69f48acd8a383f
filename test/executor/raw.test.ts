import { describe, expect, it } from "vitest";
import { BridgeError } from "../../src/errors.ts";
import { type Answer, recordingRoad } from "../support/recorder.ts";

const open = (answer?: Answer, ...flags: string[]) => recordingRoad(["--allow-raw", ...flags], answer);
const asked = (call: Promise<unknown>) =>
  call.then(
    () => "sent",
    (error: unknown) => (error instanceof BridgeError ? error.code : String(error)),
  );

describe("a REST request that the caller wrote", () => {
  it("leaves as it was written", async () => {
    const { run, sent } = open();
    await run("gitlab.rest", {
      method: "POST",
      path: "/projects/a%2Fb/issues",
      query: { scope: "x", labels: ["one", "two"] },
      body: { myKey: { camelCase: [1, "ü"] } },
    });
    expect(sent).toHaveLength(1);
    expect(sent[0]?.method).toBe("POST");
    expect(sent[0]?.url.href).toBe("https://gitlab.test/api/v4/projects/a%2Fb/issues?scope=x&labels%5B%5D=one&labels%5B%5D=two");
    expect(sent[0]?.body).toEqual({ myKey: { camelCase: [1, "ü"] } });
  });

  it("answers whole, with the next page where there is one", async () => {
    const { run } = open(() => Response.json([{ id: 1, _links: { self: "x" } }], { headers: { "x-next-page": "2" } }));
    expect(await run("gitlab.rest", { method: "GET", path: "/projects/1/issues" })).toMatchObject({
      kind: "value",
      value: { items: [{ id: 1 }], next_page: "2" },
    });
  });

  it("answers with nothing, text, bytes and errors as they are", async () => {
    const none = open(() => new Response(null, { status: 204 }));
    expect(await none.run("gitlab.rest", { method: "POST", path: "/novelties" })).toMatchObject({ value: { done: true, status: 204 } });
    const text = open(() => new Response("line", { headers: { "content-type": "text/plain" } }));
    expect(await text.run("gitlab.rest", { method: "GET", path: "/novelties/1/log" })).toMatchObject({ kind: "text", text: "line" });
    const bytes = open(() => new Response(new Uint8Array([137, 80, 0, 255]), { headers: { "content-type": "image/png" } }));
    expect(await bytes.run("gitlab.rest", { method: "GET", path: "/novelties/1/image" })).toMatchObject({ kind: "binary", bytes: 4 });
    const missing = open(() => Response.json({ message: "404 Not found" }, { status: 404 }));
    await expect(missing.run("gitlab.rest", { method: "GET", path: "/novelties/2" })).rejects.toMatchObject({ code: "not_found" });
    const odd = open(() => new Response("{", { headers: { "content-type": "application/json" } }));
    await expect(odd.run("gitlab.rest", { method: "GET", path: "/novelties" })).rejects.toMatchObject({ code: "gitlab_unavailable" });
    expect(await odd.run("gitlab.rest", { method: "POST", path: "/novelties" })).toMatchObject({
      value: { done: true },
      hint: expect.stringContaining("Do not repeat it"),
    });
  });

  it("tells no secret that the action would not tell, and makes none", async () => {
    const variable = { key: "DEPLOY", value: "s3cret-value", variable_type: "env_var" };
    const hiding = open(() => Response.json([variable]), "--reveal-secrets=never");
    const outcome = await hiding.run("gitlab.rest", { method: "GET", path: "/projects/1/variables" });
    expect(JSON.stringify(outcome)).not.toContain("s3cret-value");
    const unheard = open(() => Response.json({ runner_token: "s3cret-value" }), "--reveal-secrets=never");
    expect(JSON.stringify(await unheard.run("gitlab.rest", { method: "POST", path: "/novelties" }))).not.toContain("s3cret-value");
    const making = open();
    const made = making.run("gitlab.rest", { method: "POST", path: "/projects/1/access_tokens", body: { name: "x" } });
    await expect(made).rejects.toMatchObject({ code: "not_permitted", message: expect.stringContaining("access_token.create") });
    expect(making.sent).toEqual([]);
  });

  it("is shown in safe mode, secrets masked", async () => {
    const { run, sent } = open(undefined, "--safe-mode", "--reveal-secrets=never");
    const shown = await run("gitlab.rest", {
      method: "PUT",
      path: "/projects/1",
      query: { a: 1 },
      body: { name: "n", password: "s3cret" },
    });
    expect(shown).toEqual({
      kind: "preview",
      preview: {
        action: "gitlab.rest",
        effect: "write",
        method: "PUT",
        path: "/api/v4/projects/1",
        query: { a: 1 },
        body: { name: "n", password: expect.not.stringContaining("s3cret") },
      },
    });
    expect(sent).toEqual([]);
  });

  it("asks before it destroys", async () => {
    const { run, sent } = open();
    const remove = { method: "DELETE", path: "/projects/1/issues/7" };
    expect(await asked(run("gitlab.rest", remove))).toBe("confirmation_required");
    expect(sent).toEqual([]);
    expect(await asked(run("gitlab.rest", { ...remove, confirm: true }))).toBe("sent");
    expect(sent).toHaveLength(1);
  });

  it("is no part of other actions: reads in one go run no raw request", async () => {
    const { run, sent } = open();
    const batch = await run("batch.run", { calls: [{ action: "gitlab.rest", params: { method: "GET", path: "/user" } }] }).catch(String);
    expect(JSON.stringify(batch)).toMatch(/not a read|reads/);
    expect(await asked(run("gitlab.rest", { method: "GET", path: "/user" }, { readsOnly: "no" }))).toBe("invalid_params");
    expect(sent).toEqual([]);
  });
});

describe("a GraphQL document that the caller wrote", () => {
  it("goes to /api/graphql with its variables, and its data come back", async () => {
    const { run, sent } = open(() => Response.json({ data: { currentUser: { username: "tom" } } }));
    const document = "query($a: Int) { currentUser { username } }";
    expect(await run("gitlab.graphql", { document, variables: { a: 1 } })).toMatchObject({ value: { currentUser: { username: "tom" } } });
    expect(sent[0]?.url.href).toBe("https://gitlab.test/api/graphql");
    expect(sent[0]?.body).toEqual({ query: document, variables: { a: 1 } });
  });

  it.each([
    '{ project(fullPath: "a/b") { ciVariables { nodes { key value } } } }',
    '{ project(fullPath: "a/b") { ciVariables { nodes { plain: value } } } }',
    '{ group(fullPath: "a") { ...F } } fragment F on Group { vars: ciVariables { nodes { ...V } } } fragment V on CiGroupVariable { value }',
    '{ project(fullPath: "a/b") { x: runnersToken } }',
    "mutation { runnerCreate(input: {}) { runner { ephemeralAuthenticationToken } } }",
  ])("asks for no secret: %s", async (document) => {
    const hiding = open(() => Response.json({ data: { a: 1 } }), "--reveal-secrets=never", "--confirm=off");
    await expect(hiding.run("gitlab.graphql", { document })).rejects.toMatchObject({ code: "not_permitted", detail: { rule: "secrets" } });
    expect(hiding.sent).toEqual([]);
    const telling = open(() => Response.json({ data: { a: 1 } }), "--reveal-secrets=result", "--confirm=off");
    expect(await asked(telling.run("gitlab.graphql", { document }))).toBe("sent");
  });

  it("fails where GitLab says so inside its success", async () => {
    const { run } = open(() => Response.json({ errors: [{ message: "Field 'x' doesn't exist on type 'Query'" }] }));
    await expect(run("gitlab.graphql", { document: "{ x }" })).rejects.toMatchObject({ code: "unprocessable" });
  });
});

const REST = (method: string, path: string) => ["gitlab.rest", { method, path, confirm: true }] as const;
const GRAPHQL = (document: string) => ["gitlab.graphql", { document, confirm: true }] as const;

/** Everything that looks like a read, or hides that it is none. */
const CALLS = {
  read: [
    REST("GET", "/projects/1/issues"),
    REST("GET", "/novelties"),
    REST("POST", "/markdown"),
    GRAPHQL("{ me { id } }"),
    GRAPHQL('query { search(q: "mutation { destroyNote }") { id } }'),
    GRAPHQL("# mutation { a }\nquery A { a } query B { b }"),
  ],
  write: [
    REST("POST", "/projects/1/issues"),
    REST("POST", "/projects/1/issues.json"),
    REST("PATCH", "/novelties"),
    REST("DELETE", "/projects/1"),
    REST("POST", "/graphql"),
    REST("POST", "/markdown.json/x"),
    GRAPHQL("mutation { updateNovelty { errors } }"),
    GRAPHQL('# query\nmutation { updateNovelty(title: "query { a }") { errors } }'),
    GRAPHQL("query A { a } mutation B { updateNovelty { errors } }"),
    GRAPHQL("query A { a } mutation B { ...F } fragment F on Mutation { destroyNovelty { errors } }"),
    GRAPHQL('"query" mutation A { updateNovelty { errors } }'),
  ],
};

describe("listed × called", () => {
  it.each([
    { flags: [], listed: false, read: 0, write: 0 },
    { flags: ["--allow-raw"], listed: true, read: CALLS.read.length, write: CALLS.write.length },
    { flags: ["--allow-raw", "--read-only"], listed: true, read: CALLS.read.length, write: 0 },
    { flags: ["--allow-raw", "--safe-mode"], listed: true, read: CALLS.read.length, write: 0 },
    { flags: ["--allow-raw", "--read-only", "--safe-mode"], listed: true, read: CALLS.read.length, write: 0 },
    { flags: ["--allow-raw", "--exclude-tools=toolset:raw"], listed: false, read: 0, write: 0 },
    { flags: ["--allow-raw", "--allow-toolsets=ci"], listed: false, read: 0, write: 0 },
    { flags: ["--allow-raw", "--allow-toolsets=all"], listed: false, read: 0, write: 0 },
  ])("$flags", async ({ flags, listed, read, write }) => {
    const { run, sent, policy, registry } = recordingRoad(flags, ({ url }) =>
      Response.json(url.pathname.endsWith("graphql") ? { data: { a: 1 } } : {}),
    );
    expect(
      registry
        .actions()
        .filter((action) => action.toolset === "raw")
        .map((action) => policy.permits(action, {})),
    ).toEqual([listed, listed]);
    const count = async (calls: typeof CALLS.read) => {
      const before = sent.length;
      for (const [name, params] of calls) {
        const outcome = await asked(run(name, params));
        expect(["sent", "not_permitted", "invalid_params"], `${name} ${JSON.stringify(params)}`).toContain(outcome);
      }
      return sent.length - before;
    };
    expect(await count(CALLS.read)).toBe(read);
    expect(await count(CALLS.write)).toBe(write);
  });
});

describe("the count of writes", () => {
  it("leaves out requests that read", async () => {
    const counted: string[] = [];
    const writes = { check: () => undefined, count: (who: string) => void counted.push(who) };
    const { run } = recordingRoad(["--allow-raw", "--confirm=off"], undefined, {}, { writes });
    await run("gitlab.rest", { method: "GET", path: "/projects/1/issues" });
    expect(counted).toHaveLength(0);
    await run("gitlab.rest", { method: "POST", path: "/projects/1/issues", body: { title: "x" } });
    await run("gitlab.rest", { method: "DELETE", path: "/projects/1/issues/1" });
    expect(counted).toHaveLength(2);
  });
});
