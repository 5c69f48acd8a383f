import type { Socket } from "node:net";
import type { TLSSocket } from "node:tls";
import type { buildConnector } from "undici";

const SOCKS_PORT = 1080;

/** Opens connections through a SOCKS5 proxy (names are resolved by the proxy), then hands them to undici's own connector for TLS. */
export function createSocksConnector(
  proxy: URL,
  inner: buildConnector.connector,
  limits: { readonly timeout: number },
): buildConnector.connector {
  const open = async (host: string, port: number): Promise<Socket> => {
    const { SocksClient } = await import("socks");
    const { socket } = await SocksClient.createConnection({
      command: "connect",
      timeout: limits.timeout,
      destination: { host, port },
      proxy: {
        host: proxy.hostname.replace(/^\[|\]$/g, ""),
        port: Number(proxy.port) || SOCKS_PORT,
        type: 5,
        ...(proxy.username ? { userId: decodeURIComponent(proxy.username), password: decodeURIComponent(proxy.password) } : {}),
      },
    });
    return socket;
  };
  return (options, callback) => {
    const port = Number(options.port) || (options.protocol === "https:" ? 443 : 80);
    open(options.hostname, port).then(
      (socket) => {
        if (options.protocol !== "https:") callback(null, socket.setNoDelay() as Socket | TLSSocket);
        else inner({ ...options, httpSocket: socket }, callback);
      },
      (error: unknown) => callback(error instanceof Error ? error : new Error(String(error)), null),
    );
  };
}
