import { describe, expect, it } from "vitest";
import type { Action } from "../../src/catalog/types.ts";
import { canNamePlace, readForeign } from "../../src/policy/foreign.ts";

const text = { type: "string" };
const actionOf = (properties: Record<string, unknown>, more: Record<string, unknown> = {}): Action => ({
  ...{ id: "far.tool", tool: "tool", title: "Tool", about: "", effect: "read", params: {}, toolset: "far", source: "far" },
  schema: { type: "object", properties, ...more },
});
const plain = actionOf({});
const withId = (description: string) => actionOf({ id: { ...text, description } });
const placesOf = (params: Record<string, unknown>, action = plain) =>
  readForeign(action, params).places.map(({ name, kind, value }) => [name, kind, value]);

describe("what the arguments of another server's tool name", () => {
  it.each<[Record<string, unknown>, unknown[]]>([
    [{ project_id: 7 }, [["project_id", "project", "7"]]],
    [{ projectId: "a/b" }, [["project_id", "project", "a/b"]]],
    [{ "Project-Path": "a/b" }, [["project_path", "project", "a/b"]]],
    [{ project: "a/b" }, [["project", "project", "a/b"]]],
    [{ project_name: "b" }, [["project_name", "project", "b"]]],
    [
      { source_project_id: 1, target_project_id: 2 },
      [
        ["source_project_id", "project", "1"],
        ["target_project_id", "project", "2"],
      ],
    ],
    [
      { project_ids: [1, "a/b"] },
      [
        ["project_ids", "project", "1"],
        ["project_ids", "project", "a/b"],
      ],
    ],
    [{ group_id: "g" }, [["group_id", "group", "g"]]],
    [{ subgroup: "g/h" }, [["subgroup", "group", "g/h"]]],
    [{ full_path: "a/b" }, [["full_path", "either", "a/b"]]],
    [{ fullPath: "a/b" }, [["full_path", "either", "a/b"]]],
    [{ namespace_path: "a" }, [["namespace_path", "either", "a"]]],
    [{ url: "https://h/a/b/-/issues/1" }, [["url", "address", "https://h/a/b/-/issues/1"]]],
    [{ where: "https://h/a/b" }, [["where", "address", "https://h/a/b"]]],
    [{ remote: "git@h:a/b.git" }, [["remote", "address", "git@h:a/b.git"]]],
    [{ issue: "a/b#12" }, [["issue", "either", "a/b"]]],
    [{ ref: "a/b!3" }, [["ref", "either", "a/b"]]],
    [{ target: "gid://gitlab/Project/9" }, [["target", "project", "9"]]],
    [{ target: "gid://gitlab/Group/9" }, [["target", "group", "9"]]],
    [{ targets: [{ deep: { project_id: 5 } }] }, [["project_id", "project", "5"]]],
    [{ args: '{"project_id": "x/y"}' }, [["project_id", "project", "x/y"]]],
    [
      { project_id: '["a/b", 3]' },
      [
        ["project_id", "project", "a/b"],
        ["project_id", "project", "3"],
      ],
    ],
    [{ project_id: "", url: " ", group_id: null, projects: [], project: 0 }, []],
    [{ include_projects: true, title: "see https://h/x/y", body: "https://h/x/y", description: '{"project_id":1}' }, []],
    [{ pipeline_id: 3, job_ids: [4], assignee_ids: [5], iid: 6, merge_request_iid: 7, sha: "abc", file_path: "src/a.ts" }, []],
    [{ label_ids: ["gid://gitlab/ProjectLabel/1"], discussion_id: "gid://gitlab/Discussion/a1" }, []],
  ])("%j", (params, expected) => {
    expect(placesOf(params)).toEqual(expected);
    expect(readForeign(plain, params).unknown).toBeUndefined();
  });

  it.each([
    [{ id: 5 }],
    [{ ids: ["5"] }],
    [{ epic_id: 5 }],
    [{ parent_id: "gid://gitlab/WorkItem/5" }],
    [{ parentId: 5 }],
    [{ issue_id: "5" }],
    [{ runner_id: 5 }],
    [{ todo_id: 5 }],
    [{ todo: "gid://gitlab/Todo/5" }],
    [{ project_id: 1, targets: [{ workItemId: 5 }] }],
    [{ project_id: 1, url: "not an address" }],
  ])("%j could lead anywhere", (params) => expect(readForeign(plain, params).unknown).toBeDefined());

  it.each([
    ["ID or URL-encoded path of the project", "project"],
    ["The ID of the group", "group"],
    ["Path of a project or group", "either"],
  ])("a plain id is what its description says: %s", (description, kind) => {
    expect(placesOf({ id: "a/b" }, withId(description))).toEqual([["id", kind, "a/b"]]);
    // Further down it has no description of its own.
    expect(readForeign(withId(description), { deep: { id: 4 } }).unknown).toBe("id");
  });

  it.each<[boolean, Action]>([
    [true, actionOf({ project_id: text })],
    [true, actionOf({ url: text })],
    [true, withId("ID of the project")],
    [true, actionOf({ targets: { type: "array", items: { type: "object", properties: { projectPath: text } } } })],
    [true, actionOf({}, { anyOf: [{ properties: { group_id: text } }] })],
    [true, actionOf({ action: text, project_id: text }, { required: ["action", "project_id"] })],
    [false, actionOf({ action: text, project_id: text }, { required: ["action"] })],
    [false, actionOf({ operation: text, group_id: text })],
    [false, withId("Number of the issue")],
    [false, actionOf({ query: text, iid: { type: "integer" } })],
    [false, actionOf({ action: text, params: { type: "object" } })],
    [false, actionOf({})],
  ])("can name a place: %s", (expected, action) => expect(canNamePlace(action)).toBe(expected));
});
