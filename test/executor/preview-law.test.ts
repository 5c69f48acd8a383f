import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { loadActions, readData } from "../../src/catalog/load.ts";
import { placeholders, routesOf } from "../../src/catalog/route.ts";
import type { Action, Before, Route } from "../../src/catalog/types.ts";
import { isCreation, lookFor } from "../../src/executor/preview-look.ts";
import type { Look } from "../../src/executor/preview-path.ts";
import { isRaw } from "../../src/policy/call-effects.ts";
import type { World } from "../../src/sandbox/types.ts";
import { openRoad, PROJECT, type SandboxRoad } from "../support/sandbox-road.ts";
import { ensure, fullCall, type Ground, graphqlCall, namesFor, prepare } from "./preview-samples.ts";

type Json = Record<string, unknown>;

const actions = loadActions();
const writes = actions.filter((row) => row.effect !== "read" && row.composite === undefined && !isRaw(row) && !isCreation(row));
const FLAGS = ["--safe-mode", "--admin", "--allow-own-token", "--reveal-secrets=result"];
const facts = () => ({ user: { id: 1, username: "root", admin: true } });

let world: World;
let roads: readonly SandboxRoad[];
let ground: Ground;
/** Params of single rows: things that had to be made for them. */
let own: Readonly<Record<string, Json | ((route: Route | undefined) => Json)>>;

beforeAll(async () => {
  const root = await openRoad({
    token: "root",
    flags: FLAGS,
    facts,
    world: (made) => {
      world = made;
    },
  });
  const maria = await openRoad({ token: "maria", on: root.sandbox, flags: FLAGS, facts });
  const jonas = await openRoad({ token: "jonas", on: root.sandbox });
  roads = [root, maria, jonas];
  ground = { road: root, world, actions };
  const made = await prepare(world, root, { maria, jonas });
  const request = (route: Route | undefined) =>
    route?.[1].startsWith("/projects") ? { project_id: made.project, user_id: 3 } : { group_id: made.group, user_id: 3 };
  own = {
    "access_request.deny": request,
    "access_request.approve": request,
    "approval_settings_rule.update": { approval_rule_id: 4_711 },
    "approval_settings_rule.delete": { approval_rule_id: 4_711 },
    "todo.restore": { todo_id: made.done },
    "issue.discussion_update": { issue_iid: "12", discussion_id: made.issue },
    "merge_request.discussion_update": { discussion_id: made.merge_request },
    "work_item.link_remove": { work_item_id: 501, target_ids: [503] },
    "ci_catalog.resource_remove": { project_id: "acme/platform/deploy" },
    "ci_catalog.publish": { project_id: "acme/platform/deploy" },
  };
});

afterAll(async () => {
  for (const road of roads.toReversed()) await road.close();
});

interface Told {
  readonly look?: Look;
  /** Compared: a field with its present value; named: only which thing it is. */
  readonly kind: "none" | "failed" | "unread" | "named" | "compared";
  readonly text: string;
}

const RANK = ["none", "failed", "unread", "named", "compared"] as const;

function kindOf(preview: Json): Told["kind"] {
  if (["changes", "changes_each", "unchanged", "would_remove"].some((name) => name in preview)) return "compared";
  return "unread" in preview ? "unread" : "named";
}

async function show(road: SandboxRoad, row: Action, params: Json): Promise<Omit<Told, "look">> {
  try {
    const outcome = await road.run(row.id, params, undefined, { project: PROJECT });
    if (outcome.kind !== "preview") return { kind: "failed", text: outcome.kind };
    const { changes, changes_each, unchanged, would_remove, of, unread } = outcome.preview as Json;
    return { kind: kindOf(outcome.preview as Json), text: JSON.stringify({ changes, changes_each, unchanged, would_remove, of, unread }) };
  } catch (error) {
    return { kind: "failed", text: String(error) };
  }
}

/** The most that a preview tells of a row, over what can be given and who asks. */
async function tell(row: Action, route: Route | undefined): Promise<Told> {
  const names = route ? await namesFor(row, route, ground) : {};
  const modes = ["all", "edges", "required"] as const;
  const mine = own[row.id];
  const made = typeof mine === "function" ? mine(route) : mine;
  const calls = (route ? modes.map((mode) => fullCall(row, route, names, mode)) : [graphqlCall(row)]).map((call) => ({ ...call, ...made }));
  const look = lookFor({ action: row, params: calls[0] ?? {}, ...(route ? { route } : {}) }, actions, PROJECT);
  if (!look) return { kind: "none", text: "" };
  await ensure(row, look, ground);
  let best: Told = { kind: "none", text: "", look };
  for (const road of roads.slice(0, 2))
    for (const params of calls) {
      if (best.kind === "compared") return best;
      const told = await show(road, row, params);
      if (RANK.indexOf(told.kind) > RANK.indexOf(best.kind)) best = { ...told, look };
    }
  return best;
}

/** Why nothing is told of what is there now: nobody can read it, or a read would say nothing. */
const UNREADABLE: Readonly<Record<string, string>> = {
  "GitLab shows it only below something that the call does not name": `security_finding.dismiss security_finding.revert
    achievement.revoke achievement.user_update achievement.user_reorder achievement.user_delete incident_event.update incident_event.delete`,
  "no action reads it": `security_attribute.project_update security_policy.project_unassign security_settings.group_update
    work_item.emoji_remove active_context.collection_update active_context.namespace_update compliance.control_status_update
    runner_controller.instance_scope_remove user.avatar_update user.credit_card_validation_update upload.by_secret_delete
    virtual_registry.container_cache_entry_delete virtual_registry.maven_cache_entry_delete virtual_registry.container_link_delete
    virtual_registry.maven_link_delete virtual_registry.container_link_update virtual_registry.maven_link_update zoekt.namespace_update
    member.approve repository.submodule_update suggestion.apply suggestion.apply_batch`,
  "it is for as many things as fit, none of which it names": `security_attribute.batch_update todo.mark_all_done branch.delete_merged
    job.artifacts_all_delete merge_request.draft_note_publish_all registry_tag.delete_bulk environment.stop_stale
    environment.review_apps_delete dependency_proxy.cache_purge member.approve_all sidekiq.queue_jobs_delete data_management.checksums_refresh
    elasticsearch.namespaces_rollback elasticsearch.namespaces_rollout subscription.minutes_move topic.merge
    virtual_registry.container_registry_cache_purge virtual_registry.maven_registry_cache_purge
    virtual_registry.container_upstream_cache_purge virtual_registry.maven_upstream_cache_purge`,
  "it is named by its secret": `admin_token.revoke token.by_value_revoke runner.managers_delete runner.token_by_value_reset`,
  "its present value is a secret, of which nothing is told": `runner.registration_token_reset runner.instance_registration_token_reset
    access_token.self_rotate`,
  "it would be a download": "job.artifacts_delete",
  "it makes or starts something": `ai_catalog.external_agents_seed code_suggestion.complete commit.status_set data_management.checksum_refresh
    database.migration_mark group.relations_export group.transfer_to_organization ldap.sync_group license.billable_users_refresh
    personal_access_token.create_for_user pipeline.trigger project.create_for_user project.import_bitbucket
    project.import_bitbucket_server project.import_github project.import_github_cancel project.import_relation project.import_remote
    project.import_s3 project.relations_export project.repository_size_refresh sast.scan
    snippet.import_gists vulnerability.finding_promote zoekt.project_index virtual_registry.container_new_upstream_test
    virtual_registry.maven_new_upstream_test webhook.event_resend`,
};

/** What only says which thing it is about. */
const NAMED_ONLY: Readonly<Record<string, string>> = {
  "it starts something, or makes something else of it": `bulk_import.cancel ci_catalog.publish commit.cherry_pick commit.revert deploy_key.enable
    duo_workflow.update geo_site.repair group.export group.share issue.clone job.erase job.play job.retry label.promote milestone.promote
    merge_request.draft_note_publish merge_request.rebase merge_request.status_check_retry pages_domain.verify pipeline.retry
    pipeline_schedule.play project.export project.fork project.import_git project.share remote_mirror.sync runner.enable system_hook.test
    terraform_state.set terraform_state.lock virtual_registry.container_upstream_test virtual_registry.maven_upstream_test webhook.test`,
  "no answer of GitLab shows what it changes": `access_request.approve deployment.approve epic.child_move epic.issue_move issue.reorder
    namespace.update pipeline_schedule.take_ownership security_scan_profile.detach project.star project.unstar todo.snooze todo.unsnooze user.follow user.unfollow
    user.gpg_key_revoke user.reject user.support_pin_revoke`,
  "GitLab does not give the value back": `system_hook.custom_header_set system_hook.url_variable_set webhook.custom_header_set
    webhook.url_variable_set`,
  "it makes a new secret": "oauth_application.secret_rotate runner.token_reset runner_controller.token_rotate",
  "the sandbox's answer lacks the field": `credential.personal_access_token_rotate credential.resource_access_token_rotate
    member.override_set member.override_remove subscription.update`,
};

/** What the sandbox does not keep as GitLab does. */
const NOT_SERVED: Readonly<Record<string, string>> = {
  "the sandbox has none, and none can be made": `group.unshare user.identity_delete runner_controller.runner_scope_remove upload.delete
    epic.note_emoji_remove pipeline_schedule.variable_delete pipeline_schedule.variable_update
    project.fork_relation_delete`,
};

const idsOf = (table: Readonly<Record<string, string>>) => new Set(Object.values(table).flatMap((ids) => ids.split(/\s+/)));

const LISTED: Readonly<Record<Told["kind"], ReadonlySet<string>>> = {
  none: idsOf(UNREADABLE),
  named: idsOf(NAMED_ONLY),
  unread: idsOf(NOT_SERVED),
  failed: new Set(),
  compared: new Set(),
};

const findingsOf = (row: Action, told: readonly Told[]): string[] => {
  const wrong = told.filter(({ kind }) => kind !== "compared" && !LISTED[kind].has(row.id));
  const lists = Object.values(LISTED).filter((ids) => ids.has(row.id));
  const stale = lists.length > 0 && !told.some(({ kind }) => LISTED[kind].has(row.id));
  return [
    ...wrong.map(({ kind, text }) => `${row.id}: ${kind} ${text}`),
    ...(stale ? [`${row.id}: is listed, and told all the same`] : []),
  ];
};

async function toldOf(row: Action): Promise<readonly Told[]> {
  const told: Told[] = [];
  for (const route of row.http ? routesOf(row) : [undefined]) told.push(await tell(row, route));
  return told;
}

describe("every action that changes or removes something that is there", { timeout: 120_000 }, () => {
  it("tells in its preview what is there now, or is listed with the reason why not", async () => {
    const findings: string[] = [];
    for (const row of writes) findings.push(...findingsOf(row, await toldOf(row)));
    expect(findings).toEqual([]);
  });

  it("is read by all that its path names", () => {
    /** What says where a thing goes, or how it is tried, and not which it is. */
    const beside = ["project.transfer_to_group group_id", "runner.enable project_id", "webhook.test trigger"];
    // Where two providers have a group of the same name, both links are named.
    const open = ["ldap_group_link.by_cn_delete provider"];
    const unused = writes.flatMap((action) =>
      routesOf(action).flatMap((route) => {
        const names = placeholders(route[1]);
        const given = Object.entries(action.params).filter(([name, { in: where }]) => where !== "path" || names.includes(name));
        const params = Object.fromEntries(given.map(([name, { type }]) => [name, type === "array" ? [1] : 1]));
        const look = lookFor({ action, params, route }, actions, PROJECT);
        const told = [...(look?.reads ?? []), ...(look?.places ?? []), look?.find ? { [look.find.param]: 1 } : {}];
        return look ? names.filter((name) => !told.some((one) => name in one)).map((name) => `${action.id} ${name}`) : [];
      }),
    );
    expect([...new Set(unused)].sort()).toEqual([...beside, ...open].sort());
  });

  it("is an action of the catalog, where it is listed", () => {
    const ids = new Set(writes.map(({ id }) => id));
    expect(Object.values(LISTED).flatMap((listed) => [...listed].filter((id) => !ids.has(id)))).toEqual([]);
  });

  it("would be found wanting: without a read, and without a reason", async () => {
    const row = writes.find(({ id }) => id === "vulnerability.dismiss") as Action;
    const blind = { ...row, id: "finding.dismiss", params: { uuid: { in: "body", type: "string", required: true } } } as Action;
    expect(lookFor({ action: blind, params: { uuid: "x" } }, actions, PROJECT)).toBeUndefined();
    expect(findingsOf(blind, [{ kind: "none", text: "" }])).toEqual(["finding.dismiss: none "]);
    expect(findingsOf(row, [{ kind: "named", text: "" }])).toEqual(["vulnerability.dismiss: named "]);
    expect(findingsOf({ ...row, id: "job.play" }, [{ kind: "compared", text: "" }])).toEqual([
      "job.play: is listed, and told all the same",
    ]);
  });
});

describe("what the table tells previews", () => {
  const table = readData<Record<string, Before>>("before");
  const named = (text: unknown) => [...String(text).matchAll(/\{([a-z_]+)\}/g)].map(([, name = ""]) => name);

  it("is of actions, params and reads that there are", () => {
    const findings = Object.entries(table).flatMap(([id, { action, find, sets = {}, skips = [], with: more = {} }]) => {
      const row = writes.find((one) => one.id === id) ?? actions.find((one) => one.id === id);
      if (!row || row.effect === "read") return [`${id}: no action that writes`];
      const params = [...Object.values(sets).flatMap(named), ...Object.values(more).flatMap(named), ...skips, ...(find ? [find[1]] : [])];
      const reads = action === undefined || actions.some((one) => one.id === action && one.effect === "read");
      return [
        ...params.filter((name) => !Object.hasOwn(row.params, name)).map((name) => `${id}: has no ${name}`),
        ...(reads ? [] : [`${id}: ${action} is no read`]),
      ];
    });
    expect(findings).toEqual([]);
  });
});
