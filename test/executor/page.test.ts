import { describe, expect, it } from "vitest";
import { decodeCursor, encodeCursor, nextPosition } from "../../src/executor/page.ts";
import { action } from "./gitlab-fixture.ts";

const call = { action: action("issue.list"), params: { project_id: "1" } };
const forged = (query: Record<string, string>) => encodeCursor({ kind: "link", query, size: 20, skip: 0 }, call);

describe("a cursor that the caller wrote", () => {
  it.each([
    "sudo",
    "SUDO",
    "private_token",
    "access_token",
    "job_token",
    "password",
    "sudo[]",
    "project_id",
    "from_project_id",
    "group_id",
    "namespace",
    "render_html",
  ])("cannot bring %s", (name) =>
    expect(() => decodeCursor(forged({ id_after: "1", [name]: "root" }), call)).toThrowError(/is not one that was given out/),
  );

  it("brings what leads to the next page", () => {
    for (const query of [{ page_token: "x" }, { id_after: "7", order_by: "id" }, { cursor: "eyJ", pagination: "keyset" }])
      expect(decodeCursor(forged(query), call)).toMatchObject({ kind: "link", query });
    expect(() => decodeCursor(forged({ id_after: "1" }), { ...call, params: { project_id: "2" } })).toThrowError(/other params/);
  });

  it("never takes such words from a link either", () => {
    const link = '<https://gitlab.test/api/v4/projects?id_after=9&private_token=x&sudo=root&namespace_id=4&owned=false>; rel="next"';
    expect(nextPosition({ link }, new URLSearchParams(), 20)).toEqual({
      kind: "link",
      query: { id_after: "9", owned: "false" },
      size: 20,
      skip: 0,
    });
  });
});
