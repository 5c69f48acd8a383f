import { BridgeError, type ErrorCode, type ErrorDetail } from "../errors.ts";
import { maskForms } from "../log.ts";
import { isNone, type Owner } from "./credentials.ts";
import { isHtml, toWords, type Words } from "./error-words.ts";
import { toOutcomeUnknown } from "./failures.ts";
import { actionHint } from "./hints.ts";
import { retryAfterOf } from "./retry.ts";
import { hostOf, nameOf, type Target, tokenOf } from "./target.ts";

/** An answer of GitLab (or of something in front of it). */
export interface Answered {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: unknown;
}

interface Shaped {
  readonly code: ErrorCode;
  /** After the action and its place. */
  readonly says: string;
  readonly hint: string;
  readonly detail?: ErrorDetail;
}

type Shaper = (words: Words, target: Target, owner: Owner, answer: Answered) => Shaped;

export const tokenPage = ({ instance }: Pick<Target, "instance">): string => `${instance}/-/user_settings/personal_access_tokens`;

const scopeFor = (target: Target) => (target.effect === "read" ? "read_api" : "api");

const quoted = (words: Words) => (words.text ? `: "${maskForms(words.text)}"` : "");

/** Where a token is made, with which scope, and where it goes. */
function tokenAdvice(target: Target, owner: Owner): string {
  const bring =
    owner === "caller" || owner === "visitor"
      ? "send it as PRIVATE-TOKEN or Authorization: Bearer"
      : "give it to this server as GITLAB_TOKEN";
  return `Create a token at ${tokenPage(target)} with scope ${scopeFor(target)}, and ${bring}.`;
}

/** No credential, or one that GitLab does not take. */
export function unauthenticated(target: Target, owner: Owner, words?: Words): BridgeError {
  const says = isNone(owner)
    ? `needs a token, and there is none${words ? quoted(words) : ""}`
    : `${tokenOf(owner)} was not accepted${words ? quoted(words) : ""}`;
  const old = isNone(owner) ? "" : " The old one is wrong, expired or revoked.";
  return new BridgeError("unauthenticated", `${nameOf(target)}: ${says}.`, `${tokenAdvice(target, owner)}${old}`, {
    status: 401,
    ...(owner === "caller" || owner === "visitor" ? {} : { setting: "GITLAB_TOKEN" }),
  });
}

const invalid: Shaper = (words, _target, _owner, { status }) => {
  const names = Object.keys(words.fields);
  const one = words.choice === undefined ? undefined : `Give ${words.choice}, and call again`;
  const which = one ?? (names.length > 0 ? `Correct ${names.join(", ")} and call again` : "Correct what GitLab names and call again");
  if (words.captcha)
    return {
      code: "unprocessable",
      says: `GitLab takes it for spam${quoted(words)}`,
      hint: "A person must do this in GitLab's own pages, where the captcha can be solved.",
    };
  if (status === 400)
    return { code: "invalid_params", says: `GitLab refused the parameters${quoted(words)}`, hint: `Nothing was changed. ${which}.` };
  return {
    code: "unprocessable",
    says: `GitLab could not do it as asked${quoted(words)}`,
    hint: `${which}; the request itself was well formed, a rule of GitLab stands against it.`,
  };
};

const forbidden: Shaper = (words, target, owner) => {
  if (/insufficient\w*.?scope/i.test(`${words.error} ${words.text}`)) {
    const scope = words.scope ?? scopeFor(target);
    return {
      code: "forbidden",
      says: `${tokenOf(owner)} lacks the scope ${scope}`,
      hint: `The role may be enough, the token is not: create one with scope ${scope} at ${tokenPage(target)}.`,
    };
  }
  const plan =
    target.tier && target.tier !== "free" && target.tier !== "unknown" ? ` GitLab may also want the ${target.tier} tier for it.` : "";
  const archived = target.effect === "read" ? "" : " Nothing can be changed in an archived project.";
  return {
    code: "forbidden",
    says: `GitLab does not let the user of ${tokenOf(owner)} do this${quoted(words)}`,
    hint: `A higher role in ${target.place ?? "the project or group"} is needed; its maintainers or owners can give it. Another try with the same token will not help.${archived}${plan}`,
  };
};

const missing: Shaper = (words, target, owner) => {
  const reasons = ["it does not exist", `it is hidden from ${isNone(owner) ? "anonymous readers" : `the user of ${tokenOf(owner)}`}`];
  if (target.tier && target.tier !== "free" && target.tier !== "unknown") reasons.push(`it needs the ${target.tier} tier`);
  if (target.since) reasons.push(`this GitLab is older than ${target.since}`);
  return {
    code: "not_found",
    says: `not found${quoted(words)}`,
    hint: `One of these: ${reasons.join("; ")}. Check ids and paths by listing or searching.${isNone(owner) ? ` ${tokenAdvice(target, owner)}` : ""}`,
  };
};

const conflict: Shaper = (words, target, _owner, { status }) => {
  const why = status === 412 ? "it was changed in between" : "its present state does not allow it";
  const read = target.check ? `Read it again with ${target.check.action}` : "Read it again";
  return { code: "conflict", says: `${why}${quoted(words)}`, hint: `Nothing was changed. ${read}, then decide anew.` };
};

const afterOf = (headers: Answered["headers"]): ErrorDetail => {
  const seconds = retryAfterOf(headers);
  return seconds === undefined ? {} : { retry_after: seconds };
};

const limited: Shaper = (words, _target, owner, { headers }) => {
  const seconds = retryAfterOf(headers);
  const when = seconds === undefined ? "in a minute" : `in ${seconds} s`;
  return {
    code: "rate_limited",
    says: `too many requests from ${tokenOf(owner)}${quoted(words)}`,
    hint: `Nothing was done. Call again ${when}, and ask for more per call (limit: 100, batch.run) rather than more often.`,
    detail: afterOf(headers),
  };
};

const tooLarge: Shaper = (words) => ({
  code: "too_large",
  says: `the request is larger than GitLab takes${quoted(words)}`,
  hint: "Nothing was done. Send less at once: fewer filters, fewer files, a shorter text.",
});

const down: Shaper = (words, target, _owner, { status, headers }) => ({
  code: "gitlab_unavailable",
  says: `GitLab failed with ${status}${isHtml(words.text) ? "" : quoted(words)}`,
  hint:
    target.effect === "read"
      ? "The fault is GitLab's, not the call's. Try again in a minute; if it stays, tell whoever runs the instance."
      : "The fault is GitLab's. Look whether it was done before you try again; if it stays, tell whoever runs the instance.",
  detail: { ...(target.check ? { check: target.check } : {}), ...afterOf(headers) },
});

const BY_STATUS: Readonly<Record<number, Shaper>> = {
  400: invalid,
  403: forbidden,
  404: missing,
  405: conflict,
  406: conflict,
  409: conflict,
  410: missing,
  412: conflict,
  413: tooLarge,
  414: tooLarge,
  422: invalid,
  423: conflict,
  429: limited,
};

/** Something between us and GitLab answered, or GitLab sent a page for people. */
export function notGitLab(target: Target, status: number, title?: string): BridgeError {
  const page = title ? ` ("${title}")` : "";
  return new BridgeError(
    "not_gitlab",
    `${nameOf(target)}: ${hostOf(target)} answered ${status} with a web page${page}, not with GitLab's API.`,
    "A login page, a proxy or another server stands at this address. Check GITLAB_URL, VPN and proxy; repeating the call will not help.",
    { status },
  );
}

export const titleOf = (body: unknown): string | undefined =>
  typeof body === "string" ? /<title[^>]*>([^<]{1,80})/i.exec(body)?.[1]?.trim() : undefined;

/** Neither GitLab's own error page nor a gateway's: those are 5xx and mean that GitLab is down. */
const isForeign = ({ status, headers, body }: Answered) => status < 500 && status !== 429 && isHtml(body, headers["content-type"]);

/** What is not found may always be one of several things; elsewhere the action's own hint says it better. */
const withSpecial = (code: ErrorCode, general: string, special: string | undefined) =>
  special !== undefined && code === "not_found" ? `${general} ${special}` : (special ?? general);

/** The error for an answer that is not a success. */
export function toGitLabError(answer: Answered, target: Target, owner: Owner): BridgeError {
  const { status, headers, body } = answer;
  if (isForeign(answer)) return notGitLab(target, status, titleOf(body));
  if ((status === 502 || status === 504) && target.effect !== "read")
    return toOutcomeUnknown(`the gateway answered ${status}`, target, status);
  const words = toWords(body);
  // What is wrong with the token itself is never the action's own matter.
  const special = words.error === undefined ? actionHint(target.action, status, words.text) : undefined;
  const id = headers["x-request-id"];
  const common = { status, ...(id ? { request_id: id } : {}), ...(Object.keys(words.fields).length > 0 ? { fields: words.fields } : {}) };
  if (status === 401 && special === undefined) {
    const error = unauthenticated(target, owner, words);
    return new BridgeError(error.code, error.message, error.hint, { ...error.detail, ...common });
  }
  const shaper = BY_STATUS[status] ?? (status >= 500 ? down : status === 401 ? forbidden : invalid);
  const { code, says, hint, detail } = shaper(words, target, owner, answer);
  return new BridgeError(code, `${nameOf(target)}: ${says} (HTTP ${status}).`, withSpecial(code, hint, special), { ...common, ...detail });
}
