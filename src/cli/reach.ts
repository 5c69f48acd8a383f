import { createNetwork, type NetworkSettings } from "../executor/network.ts";

type Reach = (input: string | URL, init?: RequestInit) => Promise<Response>;

/** Streams of notifications stay open: no bound on connections, which calls could wait for. */
const CONNECTIONS = 10_000;

/** Other MCP servers by the same authorities, certificates and proxies as GitLab; undefined where the settings name none. */
export function reachOf(settings: NetworkSettings): Reach | undefined {
  const { caFile, certFile, httpProxy, httpsProxy } = settings;
  if ([caFile, certFile, httpProxy, httpsProxy].every((one) => one === undefined)) return undefined;
  const network = createNetwork({ ...settings, concurrency: CONNECTIONS });
  return async (input, init) => {
    const url = new URL(input);
    return await fetch(url, { ...init, dispatcher: await network.dispatcher(url) } as unknown as RequestInit);
  };
}
