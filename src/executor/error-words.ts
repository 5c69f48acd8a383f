import { visible } from "../visible.ts";

/** What GitLab said in an error body, whatever form it has. */
export interface Words {
  readonly text: string;
  readonly fields: Readonly<Record<string, string>>;
  /** OAuth error word: `invalid_token`, `insufficient_scope` … */
  readonly error?: string;
  readonly scope?: string;
  readonly captcha?: boolean;
  /** What must be given of several parameters: `at least one of title, labels`. */
  readonly choice?: string;
}

type Plain = Readonly<Record<string, unknown>>;

const isPlain = (value: unknown): value is Plain => typeof value === "object" && value !== null && !Array.isArray(value);

const CLIP = 300;
/** Characters of a page that are looked at. */
const MOST_TEXT = 4_000;

/** GitLab's words may hold those of others: in one line they cannot pass for a line of ours. */
const oneLine = (text: string) =>
  visible(text)
    .replace(/[\p{Cc}\p{Zl}\p{Zp}]+/gu, " ")
    .trim();

function clip(text: string): string {
  const line = oneLine(text);
  return line.length > CLIP ? `${line.slice(0, CLIP)}…` : line;
}

function flat(value: unknown): string {
  if (Array.isArray(value)) return value.map(flat).join("; ");
  if (isPlain(value))
    return Object.entries(value)
      .map(([key, inner]) => `${key}: ${flat(inner)}`)
      .join("; ");
  return value === null || value === undefined ? "" : String(value);
}

/** `{field: [texts] | {nested}}` → dotted field → text; `base` and `error` are about the whole. */
function toFields(value: Plain, prefix = ""): Record<string, string> {
  const fields: Record<string, string> = {};
  for (const [key, inner] of Object.entries(value)) {
    if (isPlain(inner)) Object.assign(fields, toFields(inner, `${prefix}${key}.`));
    else if (key !== "base" && key !== "error") fields[prefix + key] = clip(flat(inner));
  }
  return fields;
}

const GRAPE =
  /^([a-z_][a-z0-9_[\]., ]*?) (is missing|is invalid|is empty|does not have a valid value|(?:is|are|must|should|has|have|cannot|can't|may)\b.*)$/i;

/** `"title is missing, x[y] is invalid"` → title, x.y. */
function grapeFields(text: string): Record<string, string> {
  const fields: Record<string, string> = {};
  for (const part of text.split(/, (?=[a-z_][a-z0-9_[\].]*(?:, [a-z_]+)* (?:is|are|does|must|should|has|have)\b)/i)) {
    const match = GRAPE.exec(part.trim());
    if (!match) continue;
    for (const name of (match[1] ?? "").split(/, ?/)) fields[name.replace(/\[([^\]]*)\]/g, ".$1")] = match[2] ?? "";
  }
  return fields;
}

const CHOICE = /^([a-z_][a-z0-9_[\]., ]*?) are (missing, at least one|missing, exactly one|mutually exclusive)\b/i;
const MOST_CHOICES = 8;

/** `"title, labels are missing, at least one parameter must be provided"`: no single one of them is wrong. */
function choiceIn(text: string): string | undefined {
  const [, list = "", rule = ""] = CHOICE.exec(text) ?? [];
  const names = list.split(/, ?/).filter((name) => name !== "");
  if (names.length < 2) return undefined;
  const few = names.length > MOST_CHOICES ? `${names.slice(0, MOST_CHOICES).join(", ")} …` : names.join(", ");
  return `${rule.startsWith("missing") ? rule.replace("missing, ", "") : "only one"} of ${few}`;
}

function fromGrape(text: string): Pick<Words, "fields" | "choice"> {
  const choice = choiceIn(text);
  return choice === undefined ? { fields: grapeFields(text) } : { fields: {}, choice };
}

const string = (value: unknown): string | undefined => (typeof value === "string" && value !== "" ? value : undefined);

function fromMessage(message: unknown): Words | undefined {
  if (message === undefined || message === null) return undefined;
  if (!isPlain(message)) return { text: clip(flat(message)), fields: {} };
  return { text: clip(flat(message)), fields: toFields(message) };
}

function fromObject(body: Plain): Words {
  const error = string(body.error);
  const about = string(body.error_description);
  const oauth = error !== undefined && /^[a-z_]+$/.test(error) && (about !== undefined || body.scope !== undefined);
  if (oauth) {
    const scope = string(body.scope);
    return { text: clip(about ?? error), fields: {}, error, ...(scope === undefined ? {} : { scope }) };
  }
  const words = fromMessage(body.message) ?? (error === undefined ? undefined : { text: clip(error), ...fromGrape(error) });
  const found = words ?? { text: clip(string(body.detail) ?? string(body.title) ?? flat(body.errors ?? body.error)), fields: {} };
  return body.needs_captcha_response === true ? { ...found, captcha: true } : found;
}

export const isHtml = (body: unknown, type = ""): boolean =>
  /text\/html|application\/xhtml/i.test(type) || (typeof body === "string" && /^\s*<(?:!doctype html|html|head|body)\b/i.test(body));

/** Never throws: an unknown form gives its text, an empty body gives empty words. */
export function toWords(body: unknown): Words {
  if (isPlain(body)) return fromObject(body);
  if (typeof body === "string") {
    const text = body
      .slice(0, MOST_TEXT)
      .replace(/<[^>]*>/g, " ")
      .replace(/\s+/g, " ")
      .trim();
    return { text: clip(text), fields: grapeFields(text) };
  }
  return { text: clip(flat(body)), fields: {} };
}
