import { SettingsError, shown } from "../config/fault.ts";
import { loadSettings } from "../config/load.ts";
import { endpointOf } from "../upstreams/gitlab-mcp.ts";
import { openSignInStore } from "../upstreams/oauth-store.ts";
import { signIn } from "../upstreams/sign-in.ts";
import { signInDirectory } from "./open-upstreams.ts";
import { reachOf } from "./reach.ts";
import type { Host } from "./run.ts";

const PORT = /^--callback-port(?:=(.*))?$/;
const FLAG = "--callback-port";

/** The command's own flag, which is no setting of the server. @throws SettingsError */
function takePort(argv: readonly string[]): { readonly port: number; readonly rest: readonly string[] } {
  const at = argv.findIndex((word) => PORT.test(word));
  const [, joined] = PORT.exec(argv[at] ?? "") ?? [];
  if (at < 0) return { port: 0, rest: argv };
  const value = joined ?? argv[at + 1] ?? "";
  const port = Number(value);
  if (!/^\d+$/.test(value) || port > 65_535)
    throw new SettingsError(`${FLAG} ${shown(value)} is not a port; it takes 0 to 65535, 0 = any that is free`);
  return { port, rest: [...argv.slice(0, at), ...argv.slice(at + (joined === undefined ? 2 : 1))] };
}

/** `sign-in`: signs the user in at the instance for its own MCP server, through a browser. */
export async function signInHere(argv: readonly string[], host: Host): Promise<void> {
  const { port, rest } = takePort(argv);
  const { settings } = loadSettings({ argv: rest, env: host.env, transport: "stdio" });
  const { url } = settings;
  const store = openSignInStore(signInDirectory(host), url);
  const show = (address: string) =>
    console.log(`Open this address in a browser, and allow the access:\n\n${address}\n\nWaiting for five minutes.`);
  await signIn({ instance: url, resource: endpointOf(url), store, show, port, reach: reachOf(settings) });
  console.log(`Signed in at ${url}. The token is in ${store.path}, for you alone; --gitlab-mcp uses it.`);
}
