import { placeholders } from "../catalog/route.ts";
import { BridgeError } from "../errors.ts";
import { isDotSegment } from "../policy/door.ts";

/** The instance's root without `/api/v4` and without a slash at the end: `https://host/gitlab`. */
export function toRoot(url: string): string {
  const parsed = new URL(url);
  const path = parsed.pathname.replace(/\/{2,}/g, "/").replace(/\/+$/, "");
  return `${parsed.origin}${path.replace(/\/api(\/v4)?$/, "")}`;
}

/** The API root: `https://host/gitlab/api/v4`. */
export const toBase = (url: string): URL => new URL(`${toRoot(url)}/api/v4`);

function refuse(name: string, why: string): never {
  const hint = `Nothing was sent. Give ${name} as GitLab shows it: not empty, and without . or .. as a part of it.`;
  throw new BridgeError("invalid_params", `${name} ${why}`, hint, { fields: { [name]: why } });
}

/** A path value, encoded once. @throws BridgeError invalid_params for a value that would change the path. */
export function encodePathValue(name: string, value: unknown): string {
  const text = typeof value === "number" || typeof value === "boolean" ? String(value) : value;
  if (typeof text !== "string") return refuse(name, "is missing");
  if (text.trim() === "") return refuse(name, "is empty");
  const parts = text.replace(/%2f|%5c|\\/gi, "/").split("/");
  if (parts.some(isDotSegment)) return refuse(name, "has a part that is . or ..");
  return encodeURIComponent(text);
}

/** The template with every placeholder filled. */
export function fillPath(template: string, params: Readonly<Record<string, unknown>>): string {
  return placeholders(template).reduce((path, name) => path.replace(`{${name}}`, () => encodePathValue(name, params[name])), template);
}

function append(query: URLSearchParams, name: string, value: unknown): void {
  if (value === undefined || value === null) return;
  if (Array.isArray(value)) for (const item of value) append(query, `${name}[]`, item);
  else if (typeof value === "object") for (const [key, inner] of Object.entries(value)) append(query, `${name}[${key}]`, inner);
  else query.append(name, String(value));
}

/** Arrays as `name[]=a&name[]=b`, hashes as `name[key]=v`, names untouched. */
export function toQuery(params: Readonly<Record<string, unknown>>): string {
  const query = new URLSearchParams();
  for (const [name, value] of Object.entries(params)) append(query, name, value);
  return query.toString();
}
