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
};

const TWICE = "routes of the family differ: one takes several values, the others one; one value is understood by all";
const UNTYPED = "the facts give no single JSON type; text is understood for all of them";
const WITH_PATH = "GitLab asks for it only together with `path`; a comment on the whole commit has none";

/** Findings of the law about facts that are known and right as they are, word for word, and why. */
export const DIFFERENCES: Readonly<Record<string, string>> = {
  "issue.list not.author_id: type integer, fact array": TWICE,
  "issue.list not.assignee_id: type integer, fact array": TWICE,
  "issue.list not.my_reaction_emoji: type string, fact array": TWICE,
  "project.list topic: type array, fact string": TWICE,
  "pipeline_schedule.create inputs.value: type string, fact string|Array|Numeric|TrueClass|FalseClass": UNTYPED,
  "pipeline_schedule.update inputs.value: type string, fact string|Array|Numeric|TrueClass|FalseClass": UNTYPED,
  "commit.comment_add line: required differs": WITH_PATH,
  "commit.comment_add line_type: required differs": WITH_PATH,
};
