import type { Environment } from "../config/environment.ts";
import { SettingsError, shown } from "../config/fault.ts";
import { transportOf } from "../config/http-check.ts";
import { loadSettings } from "../config/load.ts";
import { usage } from "../config/usage.ts";
import { BridgeError } from "../errors.ts";
import { nearest } from "../nearest.ts";
import { VERSION } from "../version.ts";
import { serve } from "./serve.ts";

/** What `main.ts` hands down: nothing below reads the process by itself. */
export interface Host {
  readonly argv: readonly string[];
  readonly env: Environment;
  readonly cwd: string;
  readonly exit: (code: number) => never;
  /** The user's own directory: new secrets are written below it. */
  readonly home: string;
  /** Path of node and of this program, to start it again as a child. */
  readonly node: string;
  readonly script: string;
  /** The terminal shows colours. */
  readonly colour: boolean;
  /** Runs on SIGHUP. */
  readonly onHangup?: (handler: () => void) => void;
}

type Command = (argv: readonly string[], host: Host) => Promise<void> | void;

const COMMANDS: Readonly<Record<string, Command>> = {
  serve: async (argv, host) => {
    const transport = transportOf(argv, host.env);
    const loaded = loadSettings({ argv, env: host.env, transport });
    if (transport === "http") return await (await import("./serve-http.ts")).serveHttp(loaded, host);
    await serve(loaded, host);
  },
  sandbox: async (argv) => (await import("./sandbox.ts")).sandbox(argv),
  demo: async (_argv, host) => (await import("./demo.ts")).demo(host),
  ab: async (argv, host) => (await import("./ab.ts")).ab(argv, host),
  docs: async () => (await import("./docs.ts")).docs(),
  "sign-in": async (argv, host) => (await import("./sign-in.ts")).signInHere(argv, host),
  doctor: async (argv, host) => (await import("./doctor.ts")).doctor(argv, host),
  catalog: async (argv, host) => (await import("./catalog.ts")).catalog(argv, host),
};

const help = async (word: string): Promise<string> =>
  word === "ab"
    ? (await import("./ab-arguments.ts")).abUsage()
    : `${usage()}\nCommands: ${Object.keys(COMMANDS).join(", ")}; serve where none is named. More: ab --help\n`;

/** A word in front of the flags is a command; without one the server is served. */
export async function run(host: Host): Promise<void> {
  const [first = "", ...rest] = host.argv;
  if (host.argv.some((word) => word === "--help" || word === "-h") || first === "help") return console.log(await help(first));
  if (["--version", "-v", "version"].includes(first)) return console.log(VERSION);
  const isWord = first !== "" && !first.startsWith("-");
  const command = COMMANDS[isWord ? first : "serve"];
  try {
    if (!command) {
      const near = nearest(first, Object.keys(COMMANDS))[0];
      throw new SettingsError(
        `There is no command ${shown(first)}${near ? `; the nearest is "${near}"` : ""}. Commands: ${Object.keys(COMMANDS).join(", ")}.`,
      );
    }
    await command(isWord ? rest : host.argv, host);
  } catch (error) {
    if (!(error instanceof SettingsError || error instanceof BridgeError)) throw error;
    console.error(error.message);
    host.exit(2);
  }
}
