import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { loadActions } from "../../src/catalog/load.ts";
import { routesOf, scopeOf } from "../../src/catalog/route.ts";
import type { Action, Param, Route, Shape } from "../../src/catalog/types.ts";
import { type Sandbox, startSandbox } from "../../src/sandbox/server.ts";
import { SEEDED_IN_PROJECT } from "../support/seeded.ts";

let sandbox: Sandbox;

beforeAll(async () => {
  sandbox = await startSandbox();
});

afterAll(() => sandbox.close());

function sample(shape: Shape): unknown {
  if (shape.enum?.[0] !== undefined) return shape.enum[0];
  if (shape.type === "integer" || shape.type === "number") return 1;
  if (shape.type === "boolean") return true;
  if (shape.type === "array") return [sample(shape.items ?? { type: "string" })];
  if (shape.type === "object")
    return Object.fromEntries(
      Object.entries(shape.properties ?? {})
        .filter(([, one]) => one.required)
        .map(([name, one]) => [name, sample(one)]),
    );
  return shape.format === "date-time" ? "2026-11-10T00:00:00Z" : shape.format === "date" ? "2026-11-10" : "sample";
}

const needed = (action: Action, route: Route): [string, Param][] =>
  Object.entries(action.params).filter(
    ([, param]) => param.required && param.in !== "path" && (!param.on || param.on.includes(scopeOf(action, route))),
  );

/** Where the seeds have nothing of a name, it is 1. */
function requestOf(action: Action, route: Route): { url: string; init: RequestInit } {
  const [method, template] = route;
  const path = template.replace(/\{([a-z0-9_]+)\}/g, (_, name: string) => encodeURIComponent(SEEDED_IN_PROJECT[name] ?? "1"));
  const fields = needed(action, route).map(([name, param]) => [param.wire ?? name, param, sample(param)] as const);
  const query = new URLSearchParams(
    fields.filter(([, param]) => param.in === "query").map(([name, , value]): [string, string] => [name, String(value)]),
  );
  const body = Object.fromEntries(fields.filter(([, param]) => param.in === "body").map(([name, , value]) => [name, value]));
  const sends = method !== "GET" && Object.keys(body).length > 0;
  return {
    url: `${sandbox.url}/api/v4${path}?${query}`,
    init: {
      method,
      redirect: "manual",
      headers: { "private-token": sandbox.tokens.root, ...(sends ? { "content-type": "application/json" } : {}) },
      ...(sends ? { body: JSON.stringify(body) } : {}),
    },
  };
}

const rows = loadActions().flatMap((action) =>
  routesOf(action).map((route) => ({ action, route, name: `${action.id}: ${route.join(" ")}` })),
);

describe("every route of the catalog is served", () => {
  test.each(rows)("$name", async ({ action, route }) => {
    const { url, init } = requestOf(action, route);
    const reply = await fetch(url, init);
    const text = await reply.text();
    // One route must not take away what the next one needs.
    if (action.effect === "destructive" && reply.ok) sandbox.reset();
    expect(reply.status, text).toBeLessThan(500);
    // A route that nobody serves, or a method that the path lacks, has these bodies; what is only absent has `message`.
    expect(text).not.toBe(JSON.stringify({ error: "404 Not Found" }));
    expect(text).not.toBe(JSON.stringify({ error: "405 Not Allowed" }));
    expect(reply.headers.get("x-request-id")).toBeTruthy();
    const raw = action.returns === "binary" || action.returns === "text";
    if (text !== "" && !(raw && reply.ok)) {
      expect(reply.headers.get("content-type")).toMatch(/^application\/json/);
      const json = JSON.parse(text) as unknown;
      if (reply.status >= 400) expect(Object.keys(json as object).some((key) => ["message", "error"].includes(key))).toBe(true);
      else if (action.returns === "array") expect(Array.isArray(json)).toBe(true);
    }
  });

  test("most of them with success on the seeds", async () => {
    sandbox.reset();
    let good = 0;
    const reads = rows.filter(({ action }) => action.effect === "read");
    for (const { action, route } of reads) {
      const { url, init } = requestOf(action, route);
      const reply = await fetch(url, init);
      await reply.arrayBuffer();
      if (reply.ok) good += 1;
    }
    expect(good / reads.length).toBeGreaterThan(0.6);
  });
});
