import type { IncomingMessage } from "node:http";
import { BlockList, isIP } from "node:net";
import { type HttpSettings, isLoopback } from "../config/http-check.ts";

const ALLOWED_HEADERS = [
  "Content-Type",
  "Accept",
  "Authorization",
  "PRIVATE-TOKEN",
  "JOB-TOKEN",
  "X-GitLab-URL",
  "Last-Event-ID",
  "Mcp-Session-Id",
  "MCP-Protocol-Version",
  "Mcp-Method",
  "Mcp-Name",
  "X-Gitlab-Enabled-Mcp-Server-Toolsets",
  "X-Gitlab-Enabled-Mcp-Server-Tools",
  "X-Gitlab-Mcp-Server-Tool-Name-Prefix",
  "X-MCP-Toolsets",
  "X-MCP-Tools",
  "X-MCP-Exclude-Tools",
  "X-MCP-Readonly",
];

/** Who may call by which name, and from which pages: what stops a web page that made its own name point here. */
export interface Guard {
  allowsHost(host: string | undefined): boolean;
  allowsOrigin(origin: string | undefined): boolean;
  /** Headers for a page of another origin; none where it may not call. */
  cors(origin: string | undefined): Readonly<Record<string, string>>;
  /** The client's own address, through proxies that are trusted. */
  addressOf(incoming: IncomingMessage): string;
  /** Scheme and host as the client wrote them, through proxies that are trusted. */
  originOf(incoming: IncomingMessage): string;
}

const nameOf = (host: string): string => host.toLowerCase().replace(/:\d+$/, "");

const plain = (address: string): string => address.replace(/^::ffff:(?=\d+\.)/i, "");

function toBlockList(networks: readonly string[]): BlockList {
  const list = new BlockList();
  for (const network of networks) {
    const [address = "", bits] = network.split("/");
    const type = isIP(address) === 6 ? "ipv6" : "ipv4";
    if (bits === undefined) list.addAddress(address, type);
    else list.addSubnet(address, Number(bits), type);
  }
  return list;
}

function isOwnHost(host: string): boolean {
  const name = nameOf(host);
  return isLoopback(name) || isIP(name.replace(/^\[|\]$/g, "")) !== 0;
}

type Forwarded = Pick<Guard, "addressOf" | "originOf">;

function createForwarded(networks: readonly string[]): Forwarded {
  const trusted = toBlockList(networks);
  const isTrusted = (address: string) => isIP(address) !== 0 && trusted.check(address, isIP(address) === 6 ? "ipv6" : "ipv4");
  const peerOf = (incoming: IncomingMessage) => plain(incoming.socket.remoteAddress ?? "");
  const forwarded = (incoming: IncomingMessage, name: string): string | undefined => {
    if (!isTrusted(peerOf(incoming))) return undefined;
    return (
      String(incoming.headers[name] ?? "")
        .split(",")[0]
        ?.trim() || undefined
    );
  };
  return {
    addressOf(incoming) {
      const peer = peerOf(incoming);
      if (!isTrusted(peer)) return peer;
      const chain = String(incoming.headers["x-forwarded-for"] ?? "")
        .split(",")
        .map((one) => plain(one.trim()));
      return chain.findLast((one) => isIP(one) !== 0 && !isTrusted(one)) ?? peer;
    },
    originOf(incoming) {
      const scheme = forwarded(incoming, "x-forwarded-proto") === "https" ? "https" : "http";
      return `${scheme}://${forwarded(incoming, "x-forwarded-host") ?? incoming.headers.host ?? "localhost"}`;
    },
  };
}

export function createGuard(
  settings: Pick<HttpSettings, "host" | "publicUrl" | "allowedHosts" | "allowedOrigins" | "trustedProxies">,
): Guard {
  const open = settings.publicUrl === undefined ? undefined : new URL(settings.publicUrl);
  const names = new Set([...settings.allowedHosts, settings.host, ...(open ? [open.host] : [])].map((host) => host.toLowerCase()));
  const bare = new Set([...names].map(nameOf));
  const pages = new Set([...settings.allowedOrigins, ...(open ? [open.origin] : [])].map((origin) => origin.toLowerCase()));
  const isOwnPage = (origin: string) => isLoopback(settings.host) && URL.canParse(origin) && isLoopback(new URL(origin).hostname);
  const allowsOrigin = (origin: string | undefined) =>
    origin === undefined || pages.has(origin.toLowerCase()) || (origin !== "null" && isOwnPage(origin));
  return {
    allowsHost(host) {
      if (host === undefined || host === "") return false;
      return isOwnHost(host) || names.has(host.toLowerCase()) || bare.has(nameOf(host));
    },
    allowsOrigin,
    cors(origin) {
      if (origin === undefined || !allowsOrigin(origin)) return {};
      return {
        "Access-Control-Allow-Origin": origin,
        Vary: "Origin",
        "Access-Control-Allow-Methods": "GET, POST, DELETE, OPTIONS",
        "Access-Control-Allow-Headers": ALLOWED_HEADERS.join(", "),
        "Access-Control-Expose-Headers": "Mcp-Session-Id, WWW-Authenticate, Retry-After",
        "Access-Control-Max-Age": "600",
      };
    },
    ...createForwarded(settings.trustedProxies),
  };
}
