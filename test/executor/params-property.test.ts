import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { loadActions } from "../../src/catalog/load.ts";
import { placeholders, routesOf } from "../../src/catalog/route.ts";
import { validatorOf } from "../../src/catalog/schema.ts";
import type { Action, Shape } from "../../src/catalog/types.ts";
import { BridgeError } from "../../src/errors.ts";
import { type NormalizeOptions, normalizeParams } from "../../src/executor/params.ts";

const options: NormalizeOptions = {
  instance: "https://gitlab.example.com",
  project: "here/now",
  self: { id: 7, username: "alice" },
  resolveUser: async (name) => (name.length % 2 === 0 ? 12 : undefined),
};

const actions = loadActions();
const anyAction = fc.constantFrom(...actions);
const words = [
  "",
  "me",
  "@bob",
  "7d",
  "a/b!4",
  "#3",
  "true",
  "[1]",
  "{}",
  "none",
  "https://gitlab.example.com/a/b/-/issues/3",
  "git@x:y/z",
  "%2F%",
  "1e9",
  "-1",
];
const anyValue = fc.oneof(fc.jsonValue(), fc.constantFrom(...words), fc.integer(), fc.array(fc.constantFrom(...words)));
const extra = ["id", "iid", "url", "page", "limit", "cursor", "select", "confirm", "project", "mr", "state", "__proto__", "toString"];

/** Anything under names that the action has or that people use. */
const nearParams = (action: Action) => {
  const names = fc.constantFrom(...Object.keys(action.params), ...extra);
  return fc.array(fc.tuple(names, anyValue), { maxLength: 8 }).map((pairs) => Object.fromEntries(pairs) as unknown);
};

async function holds(action: Action, raw: unknown): Promise<void> {
  const result = await normalizeParams(action, raw, options).catch((error: unknown) => error);
  if (result instanceof BridgeError) {
    expect(result.code).toBe("invalid_params");
    expect(result.hint).not.toBe("");
  } else if (result instanceof Error) throw result;
  else expect(validatorOf(action).safeParse((result as { params: unknown }).params).success).toBe(true);
}

const text = fc.stringMatching(/^[a-z][a-z0-9]{2,12}( [a-z]{1,5})?$/).filter((word) => word !== "now");

/** Values that need no reading: what a schema-abiding client sends. */
function canonical(shape: Shape, name: string): fc.Arbitrary<unknown> {
  if (shape.enum) return fc.constantFrom(...shape.enum);
  switch (shape.type) {
    case "string":
      if (/(^|_)(after|before|since|until|on|at|date)$/.test(name) || shape.format)
        return fc.constantFrom("2026-01-02", "2025-12-31T10:00:00Z");
      if (/^(assignee|reviewer|user)_id$/.test(name)) return fc.nat().map(String);
      return text;
    case "integer":
      return fc.integer({ min: 0, max: 1e9 });
    case "number":
      return fc.integer();
    case "boolean":
      return fc.boolean();
    case "array":
      return fc.array(canonical(shape.items ?? { type: "string" }, name), { minLength: 1, maxLength: 3 });
    case "object":
      return fc.record(
        Object.fromEntries(
          Object.entries(shape.properties ?? { a: { type: "string" as const } }).map(([key, inner]) => [key, canonical(inner, key)]),
        ),
      );
  }
}

/** All parameters of the main route; of two that exclude each other, the first. */
const canonicalParams = (action: Action) => {
  const [main] = routesOf(action);
  const ids = main ? placeholders(main[1]) : [];
  const others = [/_username(s)?$/, /^assignee_id$/, /^milestone_id$/, /^iteration_title$/, /^epic_iid$/];
  const names = Object.keys(action.params).filter((name) => {
    const param = action.params[name];
    if (param?.in === "path") return ids.includes(name);
    return param?.on === undefined && !(param?.required !== true && others.some((pattern) => pattern.test(name)));
  });
  return fc.record(Object.fromEntries(names.map((name) => [name, canonical(action.params[name] as Shape, name)])));
};

describe("any params for any action", () => {
  it("are valid afterwards or refused, never anything else", async () => {
    const cases = anyAction.chain((action) => fc.tuple(fc.constant(action), fc.oneof(fc.jsonValue(), nearParams(action))));
    await fc.assert(
      fc.asyncProperty(cases, async ([action, raw]) => holds(action, raw)),
      { numRuns: 1500 },
    );
  });

  it("stay as they are where they are right already, however often they pass", async () => {
    for (const action of actions) {
      await fc.assert(
        fc.asyncProperty(canonicalParams(action), async (raw) => {
          const once = await normalizeParams(action, raw, options);
          expect(once.params, action.id).toEqual(raw);
          expect((await normalizeParams(action, once.params, options)).params).toEqual(raw);
        }),
        { numRuns: 3, endOnFailure: true },
      );
    }
  });
});
