import type { Action, Param } from "../../src/catalog/types.ts";

/** Values that mean something in the sandbox's seeds, by name of the parameter; a row's own come first. */
const VALUES: Readonly<Record<string, unknown>> = {
  project_id: "acme/webshop",
  group_id: "acme",
  work_item_iid: "1",
  work_item_id: 501,
  work_item_ids: [501, 502],
  work_item_type_id: 5,
  child_ids: [563],
  adjacent_id: 503,
  target_ids: [503],
  parent_id: 502,
  merge_request_reference: "!42",
  references: ["#1"],
  note_id: 3001,
  saved_view_id: 1,
  filters: { state: "opened" },
  display_settings: {},
  issue_id: 501,
  time_spent: "1h 30m",
  timelog_id: 1,
  todo_id: 702,
  todo_ids: [702],
  branch_rule_id: "1",
  target_branch_rule_id: 1,
  custom_emoji_id: 1,
  value_stream_id: 1,
  achievement_id: 1,
  user_achievement_id: 1,
  user_achievement_ids: [1],
  user_id: 3,
  username: "jonas",
  alert_iid: "1",
  pipeline_iid: "1",
  assignee_usernames: ["maria"],
  incident_id: 501,
  incident_event_id: 1,
  framework_id: 1,
  framework_ids: [1],
  policy_project_id: "acme/platform/deploy",
  vulnerability_id: 71,
  vulnerability_ids: [71, 72],
  uuid: "0d3b3ab2-5f38-5b65-9e5c-2a6a1c9a7e01",
  security_category_id: 1,
  security_attribute_id: 1,
  attribute_ids: [1],
  global_ids: ["gid://gitlab/Project/101"],
  attributes: [{ name: "High", description: "Within a day", color: "#ff0000" }],
  scan_profile_id: "secret_detection",
  identifiers: [{ name: "CVE-2026-1", url: "https://cve.example/1" }],
  scanner: { id: "pentest", name: "Penetration test", url: "https://pentest.example", version: "1" },
  url: "https://acme.example/emoji/x.png",
  color: "#336699",
};

const OWN: Readonly<Record<string, Readonly<Record<string, unknown>>>> = {
  "terraform_state.list": { project_id: "acme/platform/deploy" },
  "terraform_state.info_get": { project_id: "acme/platform/deploy", name: "production" },
  "compliance_framework.update": { framework_id: 1, description: "Newly worded" },
  "security_policy.list": { group_id: "acme" },
  "work_item.get": { work_item_iid: "1" },
  "work_item.parent_set": { work_item_id: 900_002, parent_id: 900_001 },
  "work_item.child_add": { work_item_id: 900_001, child_ids: [501] },
  "work_item.emoji_add": { work_item_id: 501, name: "tada" },
  "ci_catalog.get": { project_id: "acme/platform/deploy" },
  "ci_catalog.resource_add": { project_id: "acme/mobile-app" },
  "work_item.batch_update": { project_id: "acme/webshop", state_event: "CLOSE" },
};

const DATES = /(_at|_until|_after|_before)$/;

function sampleOf(name: string, param: Param): unknown {
  if (Object.hasOwn(VALUES, name)) return VALUES[name];
  if (param.enum) return param.enum[0];
  if (DATES.test(name)) return "2026-11-02T10:00:00Z";
  const samples = {
    string: `Sample of ${name}`,
    integer: 1,
    number: 1,
    boolean: true,
    array: [param.items?.enum?.[0] ?? "sample"],
    object: {},
  };
  return samples[param.type];
}

const PLACES = ["project_id", "group_id"];

/** A call that gives what the row requires, and one place where it can choose. */
export function sampleCall(row: Action): Record<string, unknown> {
  const given = { ...OWN[row.id] };
  for (const [name, param] of Object.entries(row.params)) {
    if (param.required && given[name] === undefined) given[name] = sampleOf(name, param);
  }
  const choice = PLACES.every((name) => row.params[name]) && !PLACES.some((name) => given[name] !== undefined);
  return choice ? { ...given, project_id: VALUES.project_id } : given;
}
