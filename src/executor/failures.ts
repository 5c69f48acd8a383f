import { BridgeError } from "../errors.ts";
import { maskForms } from "../log.ts";
import { hostOf, nameOf, type Target } from "./target.ts";

/** Why a request was aborted from our side. */
export class Overdue extends Error {
  override readonly name = "Overdue";
}

interface Link {
  readonly code: string;
  readonly message: string;
  readonly name: string;
}

function chain(error: unknown): Link[] {
  const links: Link[] = [];
  for (let at = error; at instanceof Error && links.length < 8; at = at.cause) {
    const code = "code" in at && typeof at.code === "string" ? at.code : "";
    links.push({ code, message: at.message, name: at.name });
    if (at instanceof AggregateError && at.errors[0] instanceof Error) links.push(...chain(at.errors[0]));
  }
  return links;
}

/** `unsent`: the connection never stood, so nothing was done. `lost`: it broke with the request on its way. */
export type Failure = {
  readonly kind: "refused" | "dns" | "unreachable" | "tls" | "proxy" | "connect_timeout" | "lost";
  readonly unsent: boolean;
  readonly reason: string;
};

const FORMS: readonly (readonly [RegExp, Failure["kind"]])[] = [
  [/HTTP Tunneling|SocksClient|Socks5|proxy/i, "proxy"],
  [/ENOTFOUND|EAI_/, "dns"],
  [/ECONNREFUSED/, "refused"],
  [/EHOSTUNREACH|ENETUNREACH|EADDRNOTAVAIL|EHOSTDOWN/, "unreachable"],
  [/UND_ERR_CONNECT_TIMEOUT/, "connect_timeout"],
  [/CERT|SELF_SIGNED|UNABLE_TO_|ERR_TLS|ERR_SSL|EPROTO|before secure TLS/, "tls"],
];

/** What went wrong below HTTP. */
export function toFailure(error: unknown): Failure {
  const links = chain(error);
  const last = links.at(-1);
  const reason = last ? maskForms([last.code, last.message].filter((part) => part !== "").join(": ")) : String(error);
  for (const [form, kind] of FORMS)
    if (links.some(({ code, message, name }) => form.test(`${name} ${code} ${message}`))) return { kind, unsent: true, reason };
  return { kind: "lost", unsent: false, reason };
}

const TEXTS: Readonly<Record<Failure["kind"], readonly [string, string]>> = {
  refused: ["refused the connection", "Nothing was done. GitLab is down, or the address or port in GITLAB_URL is wrong."],
  dns: ["is not a name that can be resolved", "Nothing was done. Check the host in GITLAB_URL, and whether a VPN or a proxy is needed."],
  unreachable: ["cannot be reached from here", "Nothing was done. Check the network or VPN of the machine that runs this server."],
  tls: [
    "does not present a certificate that is trusted here",
    "Nothing was done. If the instance uses an own certificate authority, whoever runs this server gives it with --ca-file.",
  ],
  proxy: [
    "was not reached: the proxy did not let the request through",
    "Nothing was done. Whoever runs this server must check --https-proxy / --http-proxy (address, name, password) and --no-proxy.",
  ],
  connect_timeout: [
    "did not take the connection in time",
    "Nothing was done. Try once more; if it stays so, the address is wrong or a firewall is in between.",
  ],
  lost: ["dropped the connection before it had answered", "A read: repeating it is safe. Try once more in a moment."],
};

/** The error of a request that got no answer from GitLab. */
export function toNetworkError(failure: Failure, target: Target, error: unknown): BridgeError {
  if (!failure.unsent && target.effect !== "read")
    return toOutcomeUnknown(`the connection was lost (${failure.reason})`, target, undefined, error);
  const [what, hint] = TEXTS[failure.kind];
  return new BridgeError("gitlab_unavailable", `${nameOf(target)}: ${hostOf(target)} ${what} (${failure.reason}).`, hint, {}, error);
}

/** A write that went out and whose answer never came. */
export function toOutcomeUnknown(why: string, target: Target, status?: number, cause?: unknown): BridgeError {
  const { check } = target;
  const look = check ? `Look first with ${check.action} (see check)` : "Look at the thing itself first";
  return new BridgeError(
    "outcome_unknown",
    `${nameOf(target)} was sent to ${hostOf(target)}, but ${why}. It may or may not have been done.`,
    `Do not repeat it blindly. ${look}; repeat only what is missing.`,
    { ...(status === undefined ? {} : { status }), ...(check ? { check } : {}) },
    cause,
  );
}

const TIMEOUT = "--timeout";

export function toTimeout(target: Target, ms: number, sent: boolean): BridgeError {
  if (sent && target.effect !== "read") return toOutcomeUnknown(`no answer came within ${ms} ms`, target);
  const hint = `Narrow the call (a smaller limit, a filter, a date range) or try later; whoever runs this server can raise ${TIMEOUT}.`;
  return new BridgeError("timeout", `${nameOf(target)}: ${hostOf(target)} did not answer within ${ms} ms.`, hint, { setting: TIMEOUT });
}

export function toCancelled(target: Target, sent: boolean): BridgeError {
  if (sent && target.effect !== "read") return toOutcomeUnknown("the call was cancelled before the answer came", target);
  const hint = "Nothing was changed. Call again only if it is still wanted.";
  return new BridgeError("cancelled", `${nameOf(target)} was cancelled.`, hint);
}
