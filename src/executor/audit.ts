import { createHash } from "node:crypto";
import type { Action, CallContext, Facts, Outcome } from "../catalog/types.ts";
import { BridgeError } from "../errors.ts";

/** What became of a call. `asked`: a person was asked first. `failed`: it was permitted, but did not come to a good end. */
export const AUDIT_VERDICTS = ["permitted", "refused", "previewed", "asked", "failed"] as const;

/** One line of the audit: who, what, where, and what became of it. Never what was in it. */
export interface AuditLine {
  readonly time: string;
  readonly user_id?: number;
  readonly user_name?: string;
  readonly user_hash?: string;
  readonly instance: string;
  readonly project?: string;
  readonly iid?: number;
  readonly action: string;
  readonly effect: Action["effect"];
  readonly verdict: (typeof AUDIT_VERDICTS)[number];
  readonly rule?: string;
  readonly status: string | number;
  readonly duration_ms: number;
  readonly client?: string;
  readonly session?: string;
  readonly request_id?: string;
  /** Run for another action (a batch, a composite). */
  readonly part?: true;
}

const text = (description: string) => ({ type: "string", description });
const whole = (description: string) => ({ type: "integer", description });

/** JSON Schema of a line, published with the docs. */
export const AUDIT_SCHEMA = {
  $schema: "https://json-schema.org/draft/2020-12/schema",
  title: "One line of the audit (--audit)",
  type: "object",
  additionalProperties: false,
  required: ["time", "instance", "action", "effect", "verdict", "status", "duration_ms"],
  properties: {
    time: { ...text("When the call ended, UTC"), format: "date-time" },
    user_id: whole("GitLab id of the user, where known (--audit-identity=name)"),
    user_name: text("User name, where known (--audit-identity=name)"),
    user_hash: text("Hash of instance and user (--audit-identity=hash)"),
    instance: text("Address of the GitLab instance"),
    project: text("Project as the call named it: full path or id"),
    iid: whole("Number of the issue, merge request … that the call named"),
    action: text("Id of the action"),
    effect: { type: "string", enum: ["read", "write", "destructive"], description: "What this call does at most" },
    verdict: { type: "string", enum: AUDIT_VERDICTS, description: "What became of the call" },
    rule: text("The rule that refused, showed or asked"),
    status: {
      type: ["string", "integer"],
      description: "HTTP status of GitLab's last answer, else ok, the code of the error, or tool_error where another server's tool failed",
    },
    duration_ms: whole("Milliseconds from call to end"),
    client: text("Name that the client gave itself"),
    session: text("Id of the connection, made anew for each"),
    request_id: text("GitLab's own id of the last request (X-Request-Id)"),
    part: { type: "boolean", const: true, description: "Run for another action (a batch, a composite)" },
  },
} as const;

/** Takes lines to where they are kept. */
export interface Audit {
  readonly identity: "name" | "hash";
  /** The connection that the lines belong to. */
  readonly session?: string;
  write(line: AuditLine): void;
}

/** What GitLab said last, by the context of the run. */
const answers = new WeakMap<CallContext, { readonly status: number; readonly request_id?: string }>();

/** Remembers the status and id of a request that was made for this run. */
export function noteAnswer(context: CallContext, { status, headers }: { status: number; headers: Readonly<Record<string, string>> }): void {
  const id = headers["x-request-id"];
  answers.set(context, { status, ...(id === undefined ? {} : { request_id: id }) });
}

function whoOf({ principal }: CallContext, { user = principal.user }: Facts, identity: Audit["identity"]) {
  if (!user) return {};
  if (identity === "name") return { user_id: user.id, user_name: user.username };
  const digest = createHash("sha256").update(`${principal.instance}\n${user.id}\n${user.username}`).digest("hex");
  return { user_hash: digest.slice(0, 24) };
}

const clip = (value: string) => value.replace(/\p{Cc}/gu, " ").slice(0, 255);

/** Paths and numbers and nothing else: what a refused call names was not looked at by anybody. */
const PLACE = /^[\w.%/-]{1,255}$/;
const NUMBER = /^\d{1,15}$/;

function whereOf(params: Readonly<Record<string, unknown>>) {
  const project = String(params.project_id ?? "");
  const number = Object.entries(params).find(([name, value]) => /(^|_)iid$/.test(name) && NUMBER.test(String(value)))?.[1];
  return { ...(PLACE.test(project) ? { project } : {}), ...(number === undefined ? {} : { iid: Number(number) }) };
}

/** What a call names as it came, before anybody read it. */
export const paramsAsked = (params: unknown): Readonly<Record<string, unknown>> =>
  typeof params === "object" && params !== null && !Array.isArray(params) ? (params as Readonly<Record<string, unknown>>) : {};

const RULES_OF_CONFIRM = new Set(["confirmation_required"]);
const REFUSALS = new Set(["not_permitted", "confirmation_required", "invalid_params"]);

type Ending = Pick<AuditLine, "verdict" | "status"> & Partial<Pick<AuditLine, "rule" | "request_id">>;

function endOfError(error: unknown): Ending {
  if (!(error instanceof BridgeError)) return { verdict: "failed", status: "internal" };
  const { status, rule, request_id } = error.detail;
  const refused = status === undefined && (REFUSALS.has(error.code) || rule !== undefined);
  const why = rule ?? (RULES_OF_CONFIRM.has(error.code) ? "confirm" : undefined);
  return {
    verdict: refused ? "refused" : "failed",
    status: status ?? error.code,
    ...(refused && why ? { rule: why } : {}),
    ...(request_id ? { request_id } : {}),
  };
}

function endOfOutcome(outcome: Outcome, context: CallContext): Ending {
  if (outcome.kind === "preview") return { verdict: "previewed", status: "ok", rule: "safe_mode" };
  if (outcome.kind === "needs_input") return { verdict: "asked", status: "ok", rule: "confirm" };
  // Another server says in its answer that it failed.
  if (outcome.kind === "relayed" && outcome.result.isError === true) return { verdict: "failed", status: "tool_error" };
  const { status = "ok", ...rest } = answers.get(context) ?? {};
  return { verdict: "permitted", status, ...rest };
}

/** One run, as it becomes known on its way. */
export interface AuditedRun {
  readonly action: Action;
  readonly context: CallContext;
  readonly facts: Facts;
  readonly started: number;
  /** When it ended, where its line is written later. */
  readonly ended?: number;
  effect: Action["effect"];
  params: Readonly<Record<string, unknown>>;
  readonly part: boolean;
}

/** Writes the line of a run that came to its end. */
export function auditRun(audit: Audit, run: AuditedRun, ended: { readonly outcome: Outcome } | { readonly error: unknown }): void {
  const { action, context, effect, started, part, ended: at = performance.now() } = run;
  const ending = "outcome" in ended ? endOfOutcome(ended.outcome, context) : endOfError(ended.error);
  audit.write({
    time: new Date().toISOString(),
    ...whoOf(context, run.facts, audit.identity),
    instance: context.principal.instance,
    ...whereOf(run.params),
    action: action.id,
    effect,
    ...ending,
    duration_ms: Math.round(at - started),
    ...(context.client === undefined ? {} : { client: clip(context.client) }),
    ...(audit.session === undefined ? {} : { session: audit.session }),
    ...(part ? { part: true } : {}),
  });
}
