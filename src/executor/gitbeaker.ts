import type { createRequesterFn, Reply, RequestOptions } from "./requester.ts";

type RequesterFn = ReturnType<typeof createRequesterFn>;

/** Sends one request through gitbeaker; the method in capitals, the path relative to `/api/v4`. */
export type Request = (method: "GET" | "POST" | "PUT" | "PATCH" | "DELETE", path: string, options: RequestOptions) => Promise<Reply>;

/** gitbeaker is loaded with the first request: its import alone costs more than a whole start. */
export function createRequest(root: string, requesterFn: RequesterFn): Request {
  const load = async () => {
    const { Projects } = await import("@gitbeaker/rest");
    return new Projects({ host: root, requesterFn }).requester;
  };
  let requester: ReturnType<typeof load> | undefined;
  return async (method, path, options) => {
    requester ??= load();
    const verbs = await requester;
    const name = method.toLowerCase() as Lowercase<typeof method>;
    // gitbeaker's types know neither our `sending` nor the owner in the answer; the requester behind them is ours and knows both.
    return (await verbs[name](path, options as Parameters<typeof verbs.get>[1])) as unknown as Reply;
  };
}
