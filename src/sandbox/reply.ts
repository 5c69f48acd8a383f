import type { Behaviour, Handler, Json, Method, Reply } from "./types.ts";

export const ok = (json: unknown): Reply => ({ status: 200, json });
export const created = (json: unknown): Reply => ({ status: 201, json });
export const accepted = (json: unknown = { message: "202 Accepted" }): Reply => ({ status: 202, json });
export const noContent = (): Reply => ({ status: 204 });
export const plain = (text: string, type = "text/plain"): Reply => ({ status: 200, text, type });
export const binary = (bytes: Uint8Array, type = "application/octet-stream", headers: Record<string, string> = {}): Reply => ({
  status: 200,
  bytes,
  type,
  headers,
});

type Options = Omit<Behaviour, "method" | "path" | "run">;
const row =
  (method: Method) =>
  (path: string, run: Handler, options: Options = {}): Behaviour => ({ method, path, run, ...options });

/** Rows of the behaviour table: `get("/projects/{project_id}/issues", listIssues)`. */
export const get = row("GET");
export const post = row("POST");
export const put = row("PUT");
export const patch = row("PATCH");
export const del = row("DELETE");

/** The same object without the named fields. */
export function without(object: Readonly<Json>, ...names: readonly string[]): Json {
  return Object.fromEntries(Object.entries(object).filter(([name]) => !names.includes(name)));
}
