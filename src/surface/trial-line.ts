import { STYLES } from "../config/values.ts";
import { ERROR_CODES } from "../errors.ts";
import type { Style } from "./styles.ts";

/** `assignment`: a user's client got a style. `excluded`: a client is left out. `list`, `call`: what an assigned client was sent. */
export const LINE_KINDS = ["assignment", "excluded", "list", "call"] as const;

/** `own_style`: it chose one. `no_user`: who it is was not known when it connected. */
export const EXCLUDED_FOR = ["own_style", "no_user"] as const;

/** `asked`: a person was asked first. */
export const CALL_ENDS = ["ok", "error", "asked"] as const;

/** One line of a live comparison: sizes, counts and times. Never a content, a name of a person, or a secret. */
export interface TrialLine {
  readonly time: string;
  readonly kind: (typeof LINE_KINDS)[number];
  readonly style: Style;
  readonly transport: "stdio" | "http";
  readonly era: "legacy" | "modern";
  readonly user?: string;
  readonly session?: string;
  readonly client?: string;
  /** `assignment` */
  readonly shares?: string;
  /** `excluded` */
  readonly reason?: (typeof EXCLUDED_FOR)[number];
  /** `assignment`, `list` */
  readonly tools?: number;
  /** `assignment`, `list`, `call` */
  readonly tokens?: number;
  /** `call` */
  readonly tool?: string;
  readonly discovery?: boolean;
  readonly end?: (typeof CALL_ENDS)[number];
  readonly code?: string;
  readonly ms?: number;
}

const text = (description: string) => ({ type: "string", description });
const whole = (description: string) => ({ type: "integer", minimum: 0, description });
const oneOf = (values: readonly string[], description: string) => ({ type: "string", enum: values, description });

/** Fields that a kind of line must have beside those that all have. */
const NEEDS: Readonly<Record<TrialLine["kind"], readonly string[]>> = {
  assignment: ["user", "shares", "tools", "tokens"],
  excluded: ["reason"],
  list: ["user", "tools", "tokens"],
  call: ["user", "tool", "discovery", "end", "tokens", "ms"],
};

/** JSON Schema of a line, published with the docs. */
export const TRIAL_SCHEMA = {
  $schema: "https://json-schema.org/draft/2020-12/schema",
  title: "One line of a live comparison of styles (--ab-log)",
  type: "object",
  additionalProperties: false,
  required: ["time", "kind", "style", "transport", "era"],
  properties: {
    time: { ...text("When it happened, UTC"), format: "date-time" },
    kind: oneOf(LINE_KINDS, "A style was given, a client is left out, a list was sent, a call ended"),
    style: oneOf(STYLES, "The style that the client has"),
    transport: oneOf(["stdio", "http"], "How the client is connected"),
    era: oneOf(["legacy", "modern"], "With a handshake and a session, or every request on its own"),
    user: text("Keyed hash of instance and user; the same user and key give the same"),
    session: text("Id of the connection, made anew for each; absent where every request is on its own"),
    client: text("Name that the client gave itself"),
    shares: text("The comparison, as --ab says it"),
    reason: oneOf(EXCLUDED_FOR, "The client chose a style, or who it is was not known"),
    tools: whole("Tools on the list"),
    tokens: whole("Estimated tokens: of the list, or of the result as a host shows it"),
    tool: text("Name of the tool, without a prefix; other for a name that means nothing here"),
    discovery: { type: "boolean", description: "The call only looked for tools, or switched them" },
    end: oneOf(CALL_ENDS, "How the call ended"),
    code: oneOf([...ERROR_CODES, "other"], "Code of the error"),
    ms: whole("Milliseconds from call to end"),
  },
  anyOf: LINE_KINDS.map((kind) => ({ properties: { kind: { const: kind } }, required: NEEDS[kind] })),
} as const;

/** Whether a line has what its kind must have. */
export const isComplete = (line: TrialLine): boolean => NEEDS[line.kind].every((name) => name in line);
