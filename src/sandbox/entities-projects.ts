import { groupOf, lookUpGroup } from "./access.ts";
import { userBasic } from "./entities.ts";
import { atRest } from "./entity-fields.ts";
import { without } from "./reply.ts";
import { sharesJson } from "./shares.ts";
import { type Group, type Json, type Project, ROLE, type User, type World } from "./types.ts";

/** The group or user that a path belongs to, as `namespace` shows it. */
export function namespaceBasic(world: World, path: string): Json {
  const group = lookUpGroup(world, path);
  if (group) {
    return {
      id: group.id,
      name: group.name,
      path: group.path,
      kind: "group",
      full_path: group.full_path,
      parent_id: group.parent_id,
      avatar_url: null,
      web_url: `${world.url}/groups/${group.full_path}`,
    };
  }
  const user = world.users.find(({ username }) => username === path);
  return {
    id: 1_000 + (user?.id ?? 0),
    name: user?.name ?? path,
    path,
    kind: "user",
    full_path: path,
    parent_id: null,
    avatar_url: user ? userBasic(world, user.id)?.avatar_url : null,
    web_url: `${world.url}/${path}`,
  };
}

const fullName = (world: World, project: Project) => {
  const group = groupOf(world, project);
  const owner = world.users.find(({ username }) => username === project.namespace);
  return `${group?.full_name ?? owner?.name ?? project.namespace} / ${project.name}`;
};

export function projectIdentity(world: World, project: Project): Json {
  return {
    id: project.id,
    description: project.description,
    name: project.name,
    name_with_namespace: fullName(world, project),
    path: project.path,
    path_with_namespace: project.path_with_namespace,
    created_at: project.created_at,
  };
}

/** What lists of projects show to those who only may see it. */
export function projectBasic(world: World, project: Project): Json {
  const host = world.url.replace(/^https?:\/\//, "").replace(/[:/].*$/, "");
  return {
    ...projectIdentity(world, project),
    default_branch: project.default_branch,
    tag_list: project.topics,
    topics: project.topics,
    ssh_url_to_repo: `git@${host}:${project.path_with_namespace}.git`,
    http_url_to_repo: `${world.url}/${project.path_with_namespace}.git`,
    web_url: `${world.url}/${project.path_with_namespace}`,
    readme_url: project.default_branch ? `${world.url}/${project.path_with_namespace}/-/blob/${project.default_branch}/README.md` : null,
    forks_count: world.projects.filter(({ forked_from_id }) => forked_from_id === project.id).length,
    avatar_url: null,
    star_count: project.starrers.length,
    last_activity_at: project.last_activity_at,
    visibility: project.visibility,
    namespace: namespaceBasic(world, project.namespace),
  };
}

function permissions(world: World, project: Project, user: User | undefined): Json {
  const shown = (level: number) => (level > ROLE.none ? { access_level: level, notification_level: 3 } : null);
  const own = (source: "project" | "group", id: number | undefined) =>
    world.members.find((row) => row.source === source && row.source_id === id && row.user_id === user?.id)?.access_level ?? 0;
  const group = groupOf(world, project);
  const inherited =
    group && user
      ? Math.max(0, ...[group, ...world.groups.filter(({ id }) => id === group.parent_id)].map(({ id }) => own("group", id)))
      : 0;
  const personal = user && project.namespace === user.username ? ROLE.owner : own("project", project.id);
  return { project_access: shown(personal), group_access: shown(inherited) };
}

/** Parts of a project or group that are shown only when asked for, or only where there is something to show. */
const ON_REQUEST = [
  "license",
  "license_url",
  "custom_attributes",
  "statistics",
  "root_storage_statistics",
  "forked_from_project",
  "owner",
  "permissions",
  "projects",
  "shared_projects",
  "shared_with_groups",
  "ldap_group_links",
  "saml_group_links",
];

/** A whole project; settings that were sent come back over the defaults. */
export function projectFull(world: World, project: Project, user?: User): Json {
  const self = `${world.url}/api/v4/projects/${project.id}`;
  const from = world.projects.find(({ id }) => id === project.forked_from_id);
  const open = world.issues.filter((issue) => issue.project_id === project.id && issue.state === "opened").length;
  const owner = world.users.find(({ username }) => username === project.namespace);
  return {
    ...atRest("APIEntitiesProjectWithAccess", ON_REQUEST),
    ...projectBasic(world, project),
    ...(owner ? { owner: userBasic(world, owner.id) } : {}),
    container_registry_image_prefix: `${world.url.replace(/^https?:\/\//, "")}/${project.path_with_namespace}`,
    _links: {
      self,
      issues: `${self}/issues`,
      merge_requests: `${self}/merge_requests`,
      repo_branches: `${self}/repository/branches`,
      labels: `${self}/labels`,
      events: `${self}/events`,
      members: `${self}/members`,
      cluster_agents: `${self}/cluster_agents`,
    },
    ...projectDefaults(project),
    shared_with_groups: sharesJson(world, project),
    marked_for_deletion_at: project.marked_for_deletion_on,
    marked_for_deletion_on: project.marked_for_deletion_on,
    empty_repo: project.default_branch === null,
    archived: project.archived,
    creator_id: project.creator_id,
    open_issues_count: open,
    updated_at: project.updated_at,
    merge_method: project.merge_method,
    only_allow_merge_if_pipeline_succeeds: project.only_allow_merge_if_pipeline_succeeds,
    only_allow_merge_if_all_discussions_are_resolved: project.only_allow_merge_if_all_discussions_are_resolved,
    remove_source_branch_after_merge: project.remove_source_branch_after_merge,
    ...(from ? { forked_from_project: without(projectBasic(world, from), "tag_list") } : {}),
    ...project.extra,
    ...(user ? { permissions: permissions(world, project, user) } : {}),
  };
}

function projectDefaults(project: Project): Json {
  return {
    packages_enabled: true,
    service_desk_enabled: true,
    service_desk_address: null,
    can_create_merge_request_in: true,
    resolve_outdated_diff_discussions: false,
    container_registry_enabled: true,
    issues_enabled: true,
    merge_requests_enabled: true,
    wiki_enabled: true,
    jobs_enabled: true,
    snippets_enabled: true,
    issues_access_level: "enabled",
    repository_access_level: "enabled",
    merge_requests_access_level: "enabled",
    forking_access_level: "enabled",
    wiki_access_level: "enabled",
    builds_access_level: "enabled",
    snippets_access_level: "enabled",
    pages_access_level: "private",
    emails_disabled: false,
    emails_enabled: true,
    shared_runners_enabled: true,
    lfs_enabled: true,
    import_url: null,
    import_type: null,
    import_status: "finished",
    import_error: null,
    description_html: project.description ?? "",
    ci_config_path: "",
    ci_default_git_depth: 20,
    ci_forward_deployment_enabled: true,
    build_timeout: 3600,
    auto_cancel_pending_pipelines: "enabled",
    public_jobs: true,
    shared_with_groups: [],
    allow_merge_on_skipped_pipeline: null,
    request_access_enabled: true,
    printing_merge_request_link_enabled: true,
    squash_option: "default_off",
    enforce_auth_checks_on_uploads: true,
    suggestion_commit_message: null,
    merge_commit_template: null,
    squash_commit_template: null,
    issue_branch_template: null,
    auto_devops_enabled: false,
    autoclose_referenced_issues: true,
    keep_latest_artifact: true,
    runners_token: null,
    approvals_before_merge: 0,
    mirror: false,
    external_authorization_classification_label: "",
    requirements_enabled: false,
    security_and_compliance_enabled: true,
    issues_template: null,
    merge_requests_template: null,
    merge_pipelines_enabled: false,
    merge_trains_enabled: false,
  };
}

export function groupJson(world: World, group: Group): Json {
  return {
    ...atRest("APIEntitiesGroup", ON_REQUEST),
    id: group.id,
    web_url: `${world.url}/groups/${group.full_path}`,
    name: group.name,
    path: group.path,
    description: group.description,
    visibility: group.visibility,
    share_with_group_lock: false,
    require_two_factor_authentication: false,
    two_factor_grace_period: 48,
    project_creation_level: "developer",
    auto_devops_enabled: null,
    subgroup_creation_level: "maintainer",
    emails_disabled: false,
    emails_enabled: true,
    mentions_disabled: null,
    lfs_enabled: true,
    default_branch: null,
    default_branch_protection: 2,
    avatar_url: null,
    request_access_enabled: true,
    full_name: group.full_name,
    full_path: group.full_path,
    created_at: group.created_at,
    parent_id: group.parent_id,
    organization_id: 1,
    shared_runners_setting: "enabled",
    ldap_cn: null,
    ldap_access: null,
    marked_for_deletion_on: null,
    wiki_access_level: "enabled",
    ...group.extra,
  };
}
