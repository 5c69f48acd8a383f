import { placeholders, scopeOf } from "../catalog/route.ts";
import type { ActionRow, Call, Param, Route, Shape } from "../catalog/types.ts";
import { BridgeError } from "../errors.ts";
import { fillPath } from "./address.ts";
import { uploadName } from "./files.ts";

/** A call as it goes out, before credentials: what a preview shows and the requester sends. */
export interface WireRequest {
  readonly method: Route[0];
  readonly template: string;
  readonly path: string;
  readonly query: Readonly<Record<string, unknown>>;
  readonly body?: Readonly<Record<string, unknown>> | FormData | Blob;
}

const isPlain = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === "object" && value !== null && !Array.isArray(value);

/** Joins what GitLab wants comma-joined; everything else stays as the caller gave it. */
function toWireValue(shape: Shape, value: unknown): unknown {
  if (shape.csv && Array.isArray(value)) return value.join(",");
  if (!shape.properties || !isPlain(value)) return value;
  return Object.fromEntries(
    Object.entries(value).map(([key, inner]) => {
      const known = shape.properties?.[key];
      return [key, known ? toWireValue(known, inner) : inner];
    }),
  );
}

const DATA_URL = /^data:([^;,]*)((?:;[^;,]*)*),(.*)$/s;

type Files = ReadonlyMap<string, File>;

const NONE: Files = new Map();

/**
 * A file comes as plain text, as `data:<type>;name=<file name>;base64,<bytes>`, or as `file:<name>` from the operator's directory;
 * in a preview, which sends nothing, such a file is only named.
 */
function toFile(name: string, value: unknown, files: Files): File {
  const own = files.get(name);
  if (own) return own;
  const named = uploadName(value);
  if (named !== undefined) return new File([], named);
  const text = String(value);
  const match = DATA_URL.exec(text);
  if (!match) return new File([text], `${name}.txt`, { type: "text/plain" });
  const [, type = "", options = "", data = ""] = match;
  const given = /;name=([^;]+)/i.exec(options)?.[1];
  const bytes = /;base64/i.test(options) ? Buffer.from(data, "base64") : Buffer.from(decodeURIComponent(data));
  return new File([bytes], given ? decodeURIComponent(given) : name, { type: type || "application/octet-stream" });
}

function appendField(form: FormData, name: string, value: unknown): void {
  if (Array.isArray(value)) for (const item of value) appendField(form, `${name}[]`, item);
  else if (isPlain(value)) for (const [key, inner] of Object.entries(value)) appendField(form, `${name}[${key}]`, inner);
  else if (value !== undefined && value !== null) form.append(name, String(value));
}

type Given = readonly (readonly [name: string, param: Param, value: unknown])[];

const wireName = (name: string, param: Param) => param.wire ?? name;

/** GitLab wants the bytes of these alone, not a form; whatever else is given goes into the query. */
const BARE: ReadonlySet<string> = new Set(["generic_package.file_upload", "terraform_state.set"]);

function toBare(given: Given, files: Files): Pick<WireRequest, "body" | "query"> {
  const file = given.find(([, param]) => param.format === "binary");
  const rest = given.filter((one) => one !== file);
  return { query: toRecord(rest), ...(file ? { body: toFile(file[0], file[2], files) } : {}) };
}

function toForm(given: Given, files: Files): FormData {
  const form = new FormData();
  for (const [name, param, value] of given) {
    if (param.format !== "binary") appendField(form, wireName(name, param), toWireValue(param, value));
    else form.append(wireName(name, param), toFile(name, value, files));
  }
  return form;
}

function toRecord(given: Given): Record<string, unknown> {
  return Object.fromEntries(given.map(([name, param, value]) => [wireName(name, param), toWireValue(param, value)]));
}

function paramsOn(row: ActionRow, route: Route, params: Readonly<Record<string, unknown>>): Given {
  const scope = scopeOf(row, route);
  return Object.entries(params)
    .filter(([, value]) => value !== undefined && value !== null)
    .map(([name, value]) => {
      const param = row.params[name];
      if (param && (!param.on || param.on.includes(scope))) return [name, param, value] as const;
      const why = param ? `belongs to another form of ${row.id}` : `is not a parameter of ${row.id}`;
      throw new BridgeError("invalid_params", `${name} ${why}`, `Nothing was sent. Leave ${name} out.`, { fields: { [name]: why } });
    });
}

/** @throws BridgeError invalid_params for path values that cannot be sent and parameters that the route does not know. */
export function toWire({ action, route, params }: Pick<Call, "action" | "route" | "params">, files: Files = NONE): WireRequest {
  const chosen = route ?? action.http;
  if (!chosen) throw new Error(`${action.id} has no route`);
  const [method, template] = chosen;
  const inPath = new Set(placeholders(template));
  const rest = paramsOn(action, chosen, params).filter(([name]) => !inPath.has(name));
  const query = rest.filter(([, param]) => param.in === "query");
  const body = rest.filter(([, param]) => param.in === "body");
  const path = fillPath(template, params);
  if (BARE.has(action.id)) return { method, template, path, ...toBare([...query, ...body], files) };
  if (body.some(([, param]) => param.format === "binary"))
    return { method, template, path, query: toRecord(query), body: toForm(body, files) };
  return { method, template, path, query: toRecord(query), ...(body.length > 0 ? { body: toRecord(body) } : {}) };
}
