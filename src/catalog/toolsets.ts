import type { ToolsetRow } from "./types.ts";

/** The toolsets of our own catalog, in the order in which they are shown. */
export const TOOLSETS: readonly ToolsetRow[] = [
  { name: "meta", title: "Server and token", about: "GitLab version, the token in use, several reads in one call" },
  { name: "core", title: "Search, to-dos, activity", about: "search, to-do items, events, namespaces, Markdown", default: true },
  { name: "merge_requests", title: "Merge requests", about: "review, comment, approve, merge", default: true },
  { name: "work_items", title: "Issues and epics", about: "issues, epics, their comments, links and time", default: true },
  { name: "repository", title: "Code", about: "branches, commits, files, tags, compare", default: true },
  { name: "ci", title: "CI/CD", about: "pipelines, jobs, logs, artifacts, schedules", default: true },
  { name: "projects", title: "Projects", about: "find, create, configure, fork, archive projects" },
  { name: "planning", title: "Labels, milestones, boards", about: "labels, milestones, boards, iterations" },
  { name: "members", title: "Members and access", about: "members, invitations, access requests" },
  { name: "releases", title: "Releases", about: "releases, their links and evidence" },
  { name: "groups", title: "Groups", about: "find, create, configure, share, move groups" },
  { name: "users", title: "Users", about: "find users, status, SSH and GPG keys, accounts" },
  { name: "ci_variables", title: "CI/CD variables", about: "variables of projects, groups, the instance" },
  { name: "approvals", title: "Approval rules", about: "who must approve merge requests, external checks" },
  { name: "protections", title: "Protections", about: "protected branches and tags, push rules" },
  { name: "webhooks", title: "Webhooks", about: "webhooks of projects and groups, their deliveries" },
  { name: "tokens", title: "Tokens and deploy keys", about: "access, personal and deploy tokens, deploy keys, service accounts" },
  { name: "analytics", title: "Analytics", about: "DORA metrics, review times, group activity" },
  { name: "monitoring", title: "Error tracking and alerts", about: "error tracking, metric images of alerts" },
  { name: "compliance", title: "Compliance", about: "outside controls, central policy group" },
  { name: "audit", title: "Audit events", about: "who changed what in project, group, instance" },
  { name: "identity", title: "Identity and SSO", about: "SAML, SCIM, LDAP, enterprise users, their credentials" },
  { name: "licensing", title: "Licenses and subscriptions", about: "license keys, plans, add-ons, minutes" },
  { name: "geo", title: "Geo", about: "replication sites and their health" },
];
