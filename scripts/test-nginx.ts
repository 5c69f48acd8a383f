import { execFileSync, spawn } from "node:child_process";
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Agent, setGlobalDispatcher } from "undici";
import { connectHttp } from "../test/support/clients.ts";
import { type Crowd, markOf, type Started, startCrowd, startHttp, tokenOf } from "../test/support/http.ts";
import { installDebian } from "./debian.ts";

/** The server behind Debian's nginx, under a sub-path and TLS: what a gateway could spoil must arrive. */
const NGINX = "/usr/sbin/nginx";

const freePort = () =>
  new Promise<number>((resolve) => {
    const probe = createServer().listen(0, "127.0.0.1", () => {
      const address = probe.address();
      const port = typeof address === "object" && address ? address.port : 0;
      probe.close(() => resolve(port));
    });
  });

function certificate(home: string): void {
  const subject = ["-subj", "/CN=localhost", "-addext", "subjectAltName=DNS:localhost"];
  execFileSync(
    "openssl",
    ["req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2", "-keyout", "key.pem", "-out", "cert.pem", ...subject],
    { cwd: home, stdio: "ignore" },
  );
}

const configuration = (home: string, port: number, target: number) => `
worker_processes 1;
pid ${home}/pid;
error_log ${home}/error.log;
events { worker_connections 256; }
http {
  access_log off;
  client_body_temp_path ${home}/body;
  proxy_temp_path ${home}/proxy;
  fastcgi_temp_path ${home}/fastcgi;
  uwsgi_temp_path ${home}/uwsgi;
  scgi_temp_path ${home}/scgi;
  server {
    listen 127.0.0.1:${port} ssl;
    ssl_certificate ${home}/cert.pem;
    ssl_certificate_key ${home}/key.pem;
    location /gitlab/ {
      proxy_pass http://127.0.0.1:${target};
      proxy_http_version 1.1;
      proxy_buffering off;
      proxy_read_timeout 1h;
      proxy_set_header Host $host;
      proxy_set_header X-Forwarded-For $proxy_add_x_forwarded_for;
      proxy_set_header X-Forwarded-Proto $scheme;
    }
  }
}
`;

const problems: string[] = [];
function check(ok: boolean, what: string): void {
  console.log(`${ok ? "✓" : "✗"} ${what}`);
  if (!ok) problems.push(what);
}

async function checkClients(url: string): Promise<void> {
  for (const kind of ["sdk1", "sdk2-legacy", "sdk2-modern-deaf"] as const) {
    const client = await connectHttp(kind, url, { headers: () => ({ "private-token": tokenOf(1) }), refreshes: true });
    const before = (await client.list()).length;
    const enabled = await client.call("enable_toolset", { toolset: "ci" });
    const switches = kind !== "sdk2-modern-deaf";
    check(enabled.json.client_refreshed === (switches ? true : "unknown"), `${kind}: the news of the list arrives before the result`);
    check((await client.list()).length > before === switches, `${kind}: the list is what was said`);
    const found = await client.call("gitlab_execute_action", { action: "issue.list", params: { project_id: "a/b" } });
    check(found.text.includes(markOf(1)), `${kind}: calls answer with the caller's own token`);
    await client.close();
  }
}

async function checkRest(url: string, server: Started): Promise<void> {
  const health = await fetch(new URL("/gitlab/healthz", url));
  check(health.status === 200, "health answers under the sub-path");
  const bare = await fetch(url, { method: "POST", headers: { "content-type": "application/json" }, body: "{}" });
  check(bare.status === 400, `a wrong message is 400 (${bare.status})`);
  const page = await fetch(url, {
    method: "POST",
    headers: { origin: "https://evil.example", "content-type": "application/json" },
    body: "{}",
  });
  check(page.status === 403, "a foreign page is 403");
  check(server.held().streams === 0, "no stream is left behind");
}

async function main(crowd: Crowd, home: string): Promise<void> {
  certificate(home);
  setGlobalDispatcher(new Agent({ connect: { ca: readFileSync(join(home, "cert.pem"), "utf8") } }));
  const port = await freePort();
  const place = `https://localhost:${port}/gitlab`;
  const flags = ["--base-path=/gitlab", `--public-url=${place}`, "--trusted-proxies=127.0.0.1", "--settle=10000"];
  const server = await startHttp(flags, { GITLAB_URL: crowd.url });
  writeFileSync(join(home, "nginx.conf"), configuration(home, port, server.port));
  const nginx = spawn(NGINX, ["-p", home, "-c", join(home, "nginx.conf"), "-e", join(home, "error.log"), "-g", "daemon off;"], {
    stdio: "inherit",
  });
  const gone = new Promise((resolve) => nginx.once("exit", resolve));
  try {
    const answers = () =>
      fetch(`${place}/healthz`).then(
        ({ status }) => status === 200,
        () => false,
      );
    for (let attempt = 0; attempt < 50 && !(await answers()); attempt++) await new Promise((resolve) => setTimeout(resolve, 100));
    await checkClients(`${place}/mcp`);
    await checkRest(`${place}/mcp`, server);
  } finally {
    nginx.kill("SIGTERM");
    await gone;
    await server.stop();
  }
}

if (!existsSync(NGINX)) await installDebian(["nginx-light", "openssl"]);
const home = mkdtempSync(join(tmpdir(), "bridge-nginx-"));
const crowd = await startCrowd();
await main(crowd, home).finally(async () => {
  await crowd.close();
  rmSync(home, { recursive: true, force: true });
});
process.exit(problems.length === 0 ? 0 : 1);
