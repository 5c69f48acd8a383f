import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { loadActions } from "../../src/catalog/load.ts";
import { routesOf } from "../../src/catalog/route.ts";
import { createDoor, type DoorRequest, isDotSegment, isInstance, READING_POSTS } from "../../src/policy/door.ts";
import { operationKinds } from "../../src/policy/graphql.ts";

const BASE = new URL("https://git.example/gitlab/api/v4");
const at = (path: string) => new URL(`${BASE.href}${path}`);
const request = (method: string, path: string, template: string, more: Partial<DoorRequest> = {}): DoorRequest => ({
  method,
  url: at(path),
  base: BASE,
  template,
  effect: "write",
  ...more,
});

describe("the door", () => {
  it("lets out only exact instances of the template", () => {
    const template = "/projects/{project_id}/labels/{label_id}";
    expect(isInstance(at("/projects/1/labels/bug"), BASE, template)).toBe(true);
    expect(isInstance(at("/projects/a%2Fb/labels/x%2Fy?force=1"), BASE, template)).toBe(true);
    for (const path of ["/projects/1/labels/", "/projects/1/labels/..", "/projects/1", "/projects/1/labels/a/b", "/projects//labels/x"])
      expect([path, isInstance(at(path), BASE, template)]).toEqual([path, false]);
    expect(isInstance(new URL("https://git.example/gitlab/api/v4/projects/1/labels/%2e%2e"), BASE, template)).toBe(false);
    expect(isInstance(new URL("https://git.example/gitlab/api/v4/projects/1/labels/%252e%252e"), BASE, template)).toBe(false);
    expect(isInstance(new URL("https://evil.example/gitlab/api/v4/projects/1/labels/x"), BASE, template)).toBe(false);
    expect(isInstance(new URL("https://git.example/api/v4/projects/1/labels/x"), BASE, template)).toBe(false);
    expect(isInstance(new URL("https://u:p@git.example/gitlab/api/v4/projects/1/labels/x"), BASE, template)).toBe(false);
  });

  it("knows dot segments however they are encoded", () => {
    for (const part of [".", "..", "%2e", "%2E%2e", ".%2e", "%252e%252e", "%25252e."])
      expect([part, isDotSegment(part)]).toEqual([part, true]);
    for (const part of ["", "...", "a.b", "%2fa", ".gitlab-ci.yml"]) expect([part, isDotSegment(part)]).toEqual([part, false]);
  });

  it("in read-only and safe mode nothing but reads leaves, whatever the effect said above", () => {
    for (const mode of [
      { readOnly: true, safeMode: false },
      { readOnly: false, safeMode: true },
    ]) {
      const door = createDoor(mode);
      for (const action of loadActions()) {
        for (const [method, template] of routesOf(action)) {
          const path = template.replace(/\{[a-z0-9_]+\}/g, "1");
          const send = () => door(request(method, path, template, { effect: action.effect }));
          if (method === "GET" || (method === "POST" && template in READING_POSTS)) expect(send).not.toThrow();
          else expect(send, `${method} ${template}`).toThrowError(/read-only|safe mode|not a read/);
        }
      }
    }
  });

  it("a row that calls itself a read cannot write even on an open server", () => {
    const door = createDoor({ readOnly: false, safeMode: false });
    expect(() => door(request("DELETE", "/projects/1", "/projects/{project_id}", { effect: "read" }))).toThrowError(/not a read/);
    expect(() => door(request("DELETE", "/projects/1", "/projects/{project_id}", { effect: "destructive" }))).not.toThrow();
  });

  it("judges GraphQL by the parsed document", () => {
    const door = createDoor({ readOnly: true, safeMode: false });
    const send = (graphql: string) => () => door(request("POST", "/graphql", "/graphql", { graphql, effect: "read" }));
    expect(send("query { currentUser { username } }")).not.toThrow();
    expect(send("{ currentUser { username } }")).not.toThrow();
    expect(send('query { a(s: "mutation {") { b } }')).not.toThrow();
    expect(send("# query\nmutation { destroy { id } }")).toThrow();
    expect(send("query A { a } mutation B { b }")).toThrow();
    expect(send("subscription { x }")).toThrow();
    expect(send("not graphql {")).toThrow();
    expect(operationKinds("query A { a } mutation B { b }")).toEqual(["query", "mutation"]);
  });

  it("no path value of any kind makes another route of it", () => {
    fc.assert(
      fc.property(fc.string({ unit: "grapheme" }), (value) => {
        const url = at(`/projects/1/labels/${encodeURIComponent(value)}`);
        if (!isInstance(url, BASE, "/projects/{project_id}/labels/{label_id}")) return;
        expect(url.pathname.split("/").length).toBe(BASE.pathname.split("/").length + 4);
        expect(url.pathname.startsWith("/gitlab/api/v4/projects/1/labels/")).toBe(true);
      }),
    );
  });
});
