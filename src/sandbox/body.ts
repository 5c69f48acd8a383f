import { badParams } from "./errors.ts";
import type { Json, Upload } from "./types.ts";

/** `a[b][]` → ["a", "b", ""]. */
function keysOf(name: string): string[] {
  const first = name.indexOf("[");
  if (first <= 0) return [name];
  return [name.slice(0, first), ...[...name.slice(first).matchAll(/\[([^\]]*)\]/g)].map((match) => match[1] ?? "")];
}

function put(target: Json, keys: readonly string[], value: unknown): void {
  const [key = "", next, ...rest] = keys;
  if (key === "__proto__") return;
  if (next === undefined) {
    target[key] = value;
  } else if (next === "") {
    const list = Array.isArray(target[key]) ? (target[key] as unknown[]) : [];
    target[key] = list;
    pushInto(list, rest, value);
  } else {
    const inner = target[key] !== null && typeof target[key] === "object" && !Array.isArray(target[key]) ? (target[key] as Json) : {};
    target[key] = inner;
    put(inner, [next, ...rest], value);
  }
}

/** `a[][b]=1&a[][c]=2` fills one object until a key comes again. */
function pushInto(list: unknown[], rest: readonly string[], value: unknown): void {
  if (rest.length === 0) {
    list.push(value);
    return;
  }
  const last = list.at(-1);
  const open = last !== null && typeof last === "object" && !((rest[0] ?? "") in (last as Json) && rest.length === 1);
  const item = open ? (last as Json) : {};
  if (!open) list.push(item);
  put(item, rest, value);
}

/** Rack's reading of `a[]=`, `a[b]=` and `a[][b]=`. */
export function nest(pairs: Iterable<readonly [string, unknown]>): Json {
  const result: Json = {};
  for (const [name, value] of pairs) put(result, keysOf(name), value);
  return result;
}

function partOf(block: Buffer): readonly [string, unknown] | undefined {
  const gap = block.indexOf("\r\n\r\n");
  if (gap < 0) return undefined;
  const head = block.subarray(0, gap).toString("utf8");
  const bytes = block.subarray(gap + 4);
  const name = /name="([^"]*)"/i.exec(head)?.[1];
  if (name === undefined) return undefined;
  const filename = /filename="([^"]*)"/i.exec(head)?.[1];
  if (filename === undefined) return [name, bytes.toString("utf8")];
  const type = /content-type:\s*([^\r\n;]+)/i.exec(head)?.[1] ?? "application/octet-stream";
  return [name, { filename, type, bytes: new Uint8Array(bytes) } satisfies Upload];
}

function multipart(body: Buffer, boundary: string): Json {
  const mark = Buffer.from(`--${boundary}`);
  const pairs: (readonly [string, unknown])[] = [];
  let at = body.indexOf(mark);
  while (at >= 0) {
    const end = body.indexOf(mark, at + mark.length);
    if (end < 0) break;
    const pair = partOf(body.subarray(at + mark.length + 2, end - 2));
    if (pair) pairs.push(pair);
    at = end;
  }
  return nest(pairs);
}

function json(body: Buffer): Json {
  let value: unknown;
  try {
    value = JSON.parse(body.toString("utf8"));
  } catch {
    throw badParams("The request body is not valid JSON");
  }
  if (value !== null && typeof value === "object" && !Array.isArray(value)) return value as Json;
  return { _json: value };
}

/** The body as parameters, by its content type. @throws 400 on broken JSON. */
export function readBody(body: Buffer, contentType: string): Json {
  if (body.length === 0) return {};
  const boundary = /boundary="?([^";]+)"?/i.exec(contentType)?.[1];
  if (/multipart\/form-data/i.test(contentType) && boundary) return multipart(body, boundary);
  if (/application\/x-www-form-urlencoded/i.test(contentType)) return nest(new URLSearchParams(body.toString("utf8")));
  if (/json/i.test(contentType)) return json(body);
  return { file: { filename: "upload", type: contentType || "application/octet-stream", bytes: new Uint8Array(body) } };
}

/** Whether a value of the body is an uploaded file. */
export function isUpload(value: unknown): value is Upload {
  return value !== null && typeof value === "object" && (value as Upload).bytes instanceof Uint8Array;
}
