/** Routes that are written otherwise than in the facts, and why. */
export const ROUTES: Readonly<Record<string, { readonly fact: string; readonly why: string }>> = {
  "GET /projects/{}/releases/permalink/latest": {
    fact: "GET /projects/{}/releases/permalink/latest/{}",
    why: "GitLab marks the trailing part as optional; without it the release itself answers",
  },
};

/** Path parameters that the facts type differently from route to route: one type for all of them, and why. */
export const PATH_TYPES: Readonly<Record<string, { readonly type: string; readonly why: string }>> = {
  namespace_id: { type: "string", why: "the other namespace routes take the id or the full path" },
  event_id: { type: "integer", why: "always a record id; some routes state a string" },
  merge_request_iid: { type: "integer", why: "the number behind !; the subscription routes state a string" },
  issue_iid: { type: "integer", why: "the number behind #; the subscription routes state a string" },
  issue_id: { type: "integer", why: "a record id" },
  branch: { type: "string", why: "a name; one route states an integer" },
  token_id: {
    type: "integer",
    why: "a record id; access tokens state a string, since self may stand there, which is an action of its own",
  },
  name: { type: "string", why: "the name of a feature; its routes state an integer" },
  record_identifier: { type: "string", why: "an id or an encoded key; one route states an integer" },
  project_id: { type: "string", why: "the id or the full path; the route of code search states an integer" },
  snippet_id: { type: "integer", why: "a record id; the storage routes state a string" },
  state_name: { type: "string", why: "the name of a Terraform state; one route states an integer" },
  vulnerability_id: { type: "integer", why: "a record id; the routes that change its state say a string" },
  runner_id: { type: "integer", why: "a record id; the routes of controllers state a string" },
  runner_controller_id: { type: "integer", why: "a record id; the routes of scopes state a string" },
  slug: { type: "string", why: "the path of a wiki page; one route states an integer" },
};

const TWICE = "routes of the family differ: one takes several values, the others one; one value is understood by all";
const UNTYPED = "the facts give no single JSON type; text is understood for all of them";
const WITH_PATH = "GitLab asks for it only together with `path`; a comment on the whole commit has none";

const GRANTS = "the facts state objects without fields; GitLab's pages about protected branches and tags name them";
const GRANT = ["access_level", "user_id", "group_id"];
/** Who is allowed, on one row: one id or level per entry. */
const grants = (id: string, params: Readonly<Record<string, readonly string[]>>): Readonly<Record<string, string>> =>
  Object.fromEntries(
    Object.entries(params).flatMap(([param, fields]) => fields.map((field) => [`${id} ${param}.${field}: not in the facts`, GRANTS])),
  );
const KINDS = "the facts name no kinds here; the operation that adds one link does, and GitLab's pages say the same of both";
const KEY = "deploy_key_id";
const CHANGE = ["id", "_destroy"];
const FORM = "a list of objects; the facts show each field as a list, the way a form sends them";
const SYMBOLS = "the document shows Ruby symbols; on the wire stand their plain names";
const BY_TYPE = "GitLab asks for it only with the kind of runner that needs it";
const PEM = "GitLab takes the text itself as well as a file";

/** Findings of the law about facts that are known and right as they are, word for word, and why. */
export const DIFFERENCES: Readonly<Record<string, string>> = {
  "release.create assets.links.link_type: values other,runbook,image,package; fact ": KINDS,
  "issue.list not.author_id: type integer, fact array": TWICE,
  "issue.list not.assignee_id: type integer, fact array": TWICE,
  "issue.list not.my_reaction_emoji: type string, fact array": TWICE,
  "project.list topic: type array, fact string": TWICE,
  "pipeline_schedule.create inputs.value: type string, fact string|Array|Numeric|TrueClass|FalseClass": UNTYPED,
  "pipeline_schedule.update inputs.value: type string, fact string|Array|Numeric|TrueClass|FalseClass": UNTYPED,
  "commit.comment_add line: required differs": WITH_PATH,
  "commit.comment_add line_type: required differs": WITH_PATH,
  "variable.delete filter: in query, fact body":
    "both routes of this DELETE read the query; the facts place it in the body for one of them",
  "webhook.event_list status: type array, fact string": "the same code answers both routes, and takes several values",
  "snippet.create file_name: required differs": "GitLab asks for it only together with `content`; `files` name theirs themselves",
  ...grants("protected_branch.create", { allowed_to_push: [...GRANT, KEY], allowed_to_merge: GRANT, allowed_to_unprotect: GRANT }),
  ...grants("protected_branch.update", {
    allowed_to_push: [...GRANT, KEY, ...CHANGE],
    allowed_to_merge: [...GRANT, ...CHANGE],
    allowed_to_unprotect: [...GRANT, ...CHANGE],
  }),
  ...grants("protected_tag.create", { allowed_to_create: [...GRANT, KEY] }),
  "bulk_import.start entities.source_type: type string, fact array": FORM,
  "bulk_import.start entities.source_full_path: type string, fact array": FORM,
  "bulk_import.start entities.destination_namespace: type string, fact array": FORM,
  "bulk_import.start entities.destination_slug: type string, fact array": FORM,
  "bulk_import.start entities.destination_name: type string, fact array": FORM,
  "bulk_import.start entities.migrate_projects: type boolean, fact array": FORM,
  "bulk_import.start entities.migrate_memberships: type boolean, fact array": FORM,
  "dependency_list_export.create export_type: values dependency_list,csv,cyclonedx_1_6_json,json_array; fact :dependency_list,:csv,:cyclonedx_1_6_json,:json_array":
    SYMBOLS,
  "vulnerability.export_create report_data.dashboard_type: values project,group,instance; fact :project,:group,:instance": SYMBOLS,
  "runner.create group_id: required differs": BY_TYPE,
  "runner.create project_id: required differs": BY_TYPE,
  "pages_domain.create certificate: a file, but not binary": PEM,
  "pages_domain.create key: a file, but not binary": PEM,
  "pages_domain.update certificate: a file, but not binary": PEM,
  "pages_domain.update key: a file, but not binary": PEM,
};
