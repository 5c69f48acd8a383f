import { readFile } from "node:fs/promises";
import * as tls from "node:tls";
import type { Dispatcher } from "undici";
import type { Settings } from "../config/options.ts";
import { BridgeError } from "../errors.ts";
import { createSocksConnector } from "./socks.ts";

export type NetworkSettings = Pick<
  Settings,
  "caFile" | "certFile" | "keyFile" | "httpProxy" | "httpsProxy" | "noProxy" | "concurrency" | "timeout"
>;

/** Hands out the dispatcher for an address: direct or by proxy, with the authorities that are trusted. */
export interface Network {
  dispatcher(url: URL): Promise<Dispatcher>;
  close(): Promise<void>;
}

/** Where systems keep their bundle of authorities; Node 20 does not look there by itself. */
const SYSTEM_BUNDLES = ["/etc/ssl/certs/ca-certificates.crt", "/etc/pki/tls/certs/ca-bundle.crt", "/etc/ssl/cert.pem"] as const;

async function readSetting(file: string, setting: string): Promise<string> {
  return readFile(file, "utf8").catch((error: unknown) => {
    const hint = `Nothing was sent. Whoever runs this server must give ${setting} a readable PEM file.`;
    throw new BridgeError("gitlab_unavailable", `${setting}: ${file} cannot be read`, hint, { setting }, error);
  });
}

async function systemAuthorities(): Promise<readonly string[]> {
  const list = (tls as { getCACertificates?: (type: "system") => string[] }).getCACertificates;
  if (list) return list("system");
  for (const file of SYSTEM_BUNDLES) {
    const text = await readFile(file, "utf8").catch(() => undefined);
    if (text) return [text];
  }
  return [];
}

/** Built once: a context per connection would parse every authority again. */
async function secureContext(settings: NetworkSettings): Promise<tls.SecureContext> {
  const extra = settings.caFile ? [await readSetting(settings.caFile, "--ca-file")] : [];
  const cert = settings.certFile ? await readSetting(settings.certFile, "--client-cert-file") : undefined;
  const key = settings.keyFile ? await readSetting(settings.keyFile, "--client-key-file") : cert;
  try {
    return tls.createSecureContext({
      ca: [...tls.rootCertificates, ...(await systemAuthorities()), ...extra],
      ...(cert === undefined ? {} : { cert, ...(key === undefined ? {} : { key }) }),
    });
  } catch (error) {
    const hint =
      "Nothing was sent. Whoever runs this server must check --ca-file, --client-cert-file and --client-key-file: PEM, and a pair.";
    throw new BridgeError("gitlab_unavailable", "The certificates in the settings cannot be used", hint, {}, error);
  }
}

const DEFAULT_PORTS: Readonly<Record<string, string>> = { "http:": "80", "https:": "443" };

/** `*`, `host`, `.domain`, `*.domain`, each with an optional port; a plain name covers its subdomains too. */
export function isDirect(url: URL, noProxy: readonly string[]): boolean {
  const host = url.hostname.toLowerCase().replace(/^\[|\]$/g, "");
  const port = url.port || DEFAULT_PORTS[url.protocol];
  return noProxy.some((entry) => {
    const rule = entry.trim().toLowerCase();
    if (rule === "*") return true;
    const [, name = rule, wanted] = /^(.*?)(?::(\d+))?$/.exec(rule) ?? [];
    const bare = name.replace(/^\*?\./, "").replace(/^\[|\]$/g, "");
    if (bare === "" || (wanted !== undefined && wanted !== port)) return false;
    return host === bare || host.endsWith(`.${bare}`);
  });
}

/** The proxy that an address is reached through, if any. @throws BridgeError for a proxy of an unknown kind. */
export function proxyFor(url: URL, settings: NetworkSettings): URL | undefined {
  const given = url.protocol === "https:" ? settings.httpsProxy : settings.httpProxy;
  if (!given || isDirect(url, settings.noProxy)) return undefined;
  const text = /^[a-z][a-z0-9+.-]*:\/\//i.test(given) ? given : `http://${given}`;
  const setting = url.protocol === "https:" ? "--https-proxy" : "--http-proxy";
  const hint = `Nothing was sent. Whoever runs this server must give ${setting} an http, https, socks5 or socks5h address.`;
  if (!URL.canParse(text)) throw new BridgeError("gitlab_unavailable", `${setting} is not an address`, hint, { setting });
  const proxy = new URL(text);
  if (!/^(https?|socks5h?|socks):$/.test(proxy.protocol))
    throw new BridgeError("gitlab_unavailable", `${setting}: proxies of kind ${proxy.protocol.slice(0, -1)} are not supported`, hint, {
      setting,
    });
  return proxy;
}

async function toDispatcher(url: URL, settings: NetworkSettings, context: () => Promise<tls.SecureContext>): Promise<Dispatcher> {
  const { Agent, ProxyAgent, buildConnector } = await import("undici");
  const proxy = proxyFor(url, settings);
  const common = { connections: settings.concurrency, headersTimeout: 0, bodyTimeout: 0 };
  const needsTls = url.protocol === "https:" || proxy?.protocol === "https:";
  // Said here, since Node would take the environment's word (NODE_TLS_REJECT_UNAUTHORIZED) for what is not said.
  const secure = needsTls ? { secureContext: await context(), rejectUnauthorized: true } : {};
  const connect = { ...secure, timeout: settings.timeout };
  if (!proxy) return new Agent({ ...common, connect });
  if (proxy.protocol.startsWith("socks"))
    return new Agent({ ...common, connect: createSocksConnector(proxy, buildConnector(connect), connect) });
  return new ProxyAgent({ ...common, uri: proxy.href, proxyTunnel: url.protocol === "https:", requestTls: connect, proxyTls: connect });
}

/** undici comes in with the first request, not at start. */
export function createNetwork(settings: NetworkSettings): Network {
  const dispatchers = new Map<string, Promise<Dispatcher>>();
  let context: Promise<tls.SecureContext> | undefined;
  const shared = () => {
    context ??= secureContext(settings);
    return context;
  };
  return {
    dispatcher(url) {
      const known = dispatchers.get(url.origin);
      if (known) return known;
      const made = toDispatcher(url, settings, shared);
      dispatchers.set(url.origin, made);
      made.catch(() => {
        dispatchers.delete(url.origin);
        context = undefined;
      });
      return made;
    },
    async close() {
      const open = [...dispatchers.values()];
      dispatchers.clear();
      await Promise.allSettled(open.map(async (one) => (await one).destroy()));
    },
  };
}
