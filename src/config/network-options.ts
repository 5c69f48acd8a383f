import { optionIn } from "./option.ts";
import { integer, list, proxyUrl, text } from "./values.ts";

const option = optionIn("Network");

/** How GitLab is reached. */
export const NETWORK_OPTIONS = {
  timeout: option({
    flag: "timeout",
    env: "GITLAB_BRIDGE_TIMEOUT",
    kind: "value",
    schema: integer(30_000, 100, 600_000),
    about: "Milliseconds until a request to GitLab is given up",
  }),
  identifyTimeout: option({
    flag: "identify-timeout",
    env: "GITLAB_BRIDGE_IDENTIFY_TIMEOUT",
    kind: "value",
    schema: integer(3_000, 100, 60_000),
    about: "Milliseconds that is waited to learn from GitLab whose token it is; what is not known then is left to GitLab's own answer",
  }),
  retries: option({
    flag: "retries",
    env: "GITLAB_BRIDGE_RETRIES",
    kind: "value",
    schema: integer(2, 0, 5),
    about: "How often a read is tried again after 429, 502, 503, 504 or a lost connection; writes never are",
  }),
  concurrency: option({
    flag: "concurrency",
    env: "GITLAB_BRIDGE_CONCURRENCY",
    kind: "value",
    schema: integer(8, 1, 64),
    about: "Requests to GitLab at the same time",
  }),
  caFile: option({
    flag: "ca-file",
    env: "GITLAB_BRIDGE_CA_FILE",
    aliases: ["GITLAB_CA_CERT_PATH", "NODE_EXTRA_CA_CERTS"],
    kind: "value",
    schema: text,
    about: "PEM file with further certificate authorities",
    example: "/etc/ssl/company.pem",
  }),
  certFile: option({
    flag: "client-cert-file",
    env: "GITLAB_BRIDGE_CLIENT_CERT_FILE",
    kind: "value",
    schema: text,
    about: "PEM file with the client certificate (mTLS)",
    example: "client.pem",
  }),
  keyFile: option({
    flag: "client-key-file",
    env: "GITLAB_BRIDGE_CLIENT_KEY_FILE",
    kind: "value",
    schema: text,
    about: "PEM file with the key of the client certificate",
    example: "client.key",
  }),
  httpProxy: option({
    flag: "http-proxy",
    env: "HTTP_PROXY",
    aliases: ["http_proxy", "ALL_PROXY", "all_proxy"],
    kind: "value",
    schema: proxyUrl,
    about: "Proxy for http:// instances (http, https or socks5 address)",
    secret: true,
    example: "http://proxy.example.com:3128",
  }),
  httpsProxy: option({
    flag: "https-proxy",
    env: "HTTPS_PROXY",
    aliases: ["https_proxy", "ALL_PROXY", "all_proxy"],
    kind: "value",
    schema: proxyUrl,
    about: "Proxy for https:// instances (http, https or socks5 address)",
    secret: true,
    example: "http://proxy.example.com:3128",
  }),
  noProxy: option({
    flag: "no-proxy",
    env: "NO_PROXY",
    aliases: ["no_proxy"],
    kind: "list",
    schema: list,
    about: "Hosts that are reached without the proxy",
  }),
} as const;
