import { loadActions } from "../catalog/load.ts";
import { ERROR_CODES, type ErrorCode } from "../errors.ts";
import { ACTION_HINTS, type ActionHint } from "../executor/hints.ts";

interface Told {
  readonly means: string;
  readonly fault: "the call" | "the person" | "the operator" | "GitLab" | "the network" | "the bridge" | "another server" | "nobody";
  readonly next: string;
}

/** What each code tells; the answer itself names the action, the place and the very next step. */
const CODES: Readonly<Record<ErrorCode, Told>> = {
  unknown_action: {
    means: "No action, tool or alias has this name",
    fault: "the call",
    next: "Take one of the nearest names, or search with `gitlab_find_action`",
  },
  unknown_toolset: { means: "No toolset has this name", fault: "the call", next: "`list_available_toolsets` shows the names" },
  ambiguous_alias: { means: "The name stands for several actions", fault: "the call", next: "Take one of the ids that the answer names" },
  invalid_params: {
    means: "Parameters are wrong, missing or unknown, by the row's schema or by GitLab's word (400); nothing was changed",
    fault: "the call",
    next: "Correct the named `fields`; `signature` shows the call",
  },
  not_permitted: {
    means: "A rule of this server stands against it; nothing was sent",
    fault: "the operator",
    next: "`rule` and `setting` say which; whoever runs the server can change it",
  },
  confirmation_required: {
    means: "It is destructive and nobody has agreed yet; nothing was sent",
    fault: "the person",
    next: "Ask the user, then call again with `confirm: true` where the server takes that",
  },
  unauthenticated: {
    means: "No token, or one that GitLab does not take (401)",
    fault: "the person",
    next: "Make a token at the address in the hint, with the scope it names",
  },
  forbidden: {
    means: "The token is good, but its user or its scopes may not do this (403)",
    fault: "the person",
    next: "A higher role, another scope, or somebody who may",
  },
  not_found: {
    means: "It does not exist, is hidden from this user, needs another tier, or this GitLab is too old for it (404)",
    fault: "the call",
    next: "Check ids and paths by listing or searching",
  },
  conflict: {
    means: "The present state does not allow it, or it changed in between (405, 406, 409, 412, 423); nothing was changed",
    fault: "the call",
    next: "Read it again, then decide anew",
  },
  unprocessable: {
    means: "Well formed, but a rule of GitLab stands against it (422), a captcha too",
    fault: "the call",
    next: "Correct the named `fields`",
  },
  rate_limited: {
    means: "Too many requests (429); nothing was done",
    fault: "the call",
    next: "Wait `retry_after` seconds; ask for more per call",
  },
  gitlab_unavailable: {
    means: "GitLab is down (5xx) or was not reached: name, connection, certificate or proxy, each told apart",
    fault: "GitLab",
    next: "The hint says whether waiting helps or a setting is wrong",
  },
  not_gitlab: {
    means: "A web page came in place of the API: a login page, a proxy, another server",
    fault: "the network",
    next: "Check `GITLAB_URL`, VPN and proxy",
  },
  timeout: { means: "A read took too long", fault: "GitLab", next: "Narrow the call, or raise `--timeout`" },
  cancelled: { means: "The client gave the call up; nothing was changed", fault: "nobody", next: "Call again only if it is still wanted" },
  outcome_unknown: {
    means: "A write went out and no answer came: it may or may not be done. It is never sent twice",
    fault: "the network",
    next: "Look with the read in `check` before anything is repeated",
  },
  upstream_unavailable: {
    means: "Another MCP server behind this one does not answer",
    fault: "another server",
    next: "Whoever runs this server looks at that one",
  },
  too_large: {
    means: "Request, file or answer is larger than what can travel",
    fault: "the call",
    next: "Ask for a part, or save to a file (`save_as`)",
  },
  internal: { means: "A bug of the bridge", fault: "the bridge", next: "Report it with what was called" },
};

const cell = (text: string) => text.replaceAll("|", "\\|");

const codeRow = (code: ErrorCode) => `| \`${code}\` | ${cell(CODES[code].means)} | ${CODES[code].fault} | ${cell(CODES[code].next)} |`;

function hintRow({ action, status, when, hint }: ActionHint): string {
  const words = when ? `, words like \`${when.source}\`` : "";
  return `| \`${action}\` | ${status.join(", ")}${cell(words)} | ${cell(hint)} |`;
}

/** docs/errors.md, from the codes and the hints themselves. */
export function errorsPage(): string {
  const count = loadActions().length;
  return [
    "# Errors",
    "",
    "Written by the program itself (`npm run docs`). Every failure has `isError`, and in both forms a code, a message that names the action and",
    "its place, and a hint with the next step. Beside these, where they are known: `status` and `request_id` of GitLab, `fields` with what is",
    "wrong in each, `nearest` names, the `signature`, `retry_after`, the `rule` and `setting` that stand against it, and `check`.",
    "",
    "| code | what it means | at fault | next |",
    "|---|---|---|---|",
    ...ERROR_CODES.map(codeRow),
    "",
    "## Hints of single actions",
    "",
    `Where GitLab's own answer misleads, its hint is one of these; all other answers of the ${count} actions have the general one. The first that`,
    "fits counts; `*` stands for any run of characters.",
    "",
    "| action | HTTP status | hint |",
    "|---|---|---|",
    ...ACTION_HINTS.map(hintRow),
    "",
  ].join("\n");
}
