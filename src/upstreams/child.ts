import { type ChildProcess, spawn } from "node:child_process";
import { type JSONRPCMessage, ReadBuffer, serializeMessage, type Transport } from "@modelcontextprotocol/client";

export interface ChildOptions {
  readonly command: string;
  readonly args: readonly string[];
  /** Its whole environment: nothing of ours is inherited. */
  readonly env: Readonly<Record<string, string>>;
  readonly cwd?: string;
  /** A line that the child wrote to stderr. */
  readonly onLine: (line: string) => void;
}

const LARGEST = 10 * 1024 * 1024;
/** How long a child gets after each of: end of stdin, SIGTERM. */
const PATIENCE = 500;
const SIGNALS = ["SIGTERM", "SIGINT", "SIGHUP"] as const;

const groups = new Set<number>();

/** A child and everything it started. */
function signalGroup(pid: number, signal: NodeJS.Signals): void {
  try {
    process.kill(process.platform === "win32" ? pid : -pid, signal);
  } catch {
    // Gone already.
  }
}

const killAll = () => {
  for (const pid of groups) signalGroup(pid, "SIGKILL");
};

/** Ends as it would have without us. */
function onSignal(signal: NodeJS.Signals): void {
  killAll();
  watch(false);
  process.kill(process.pid, signal);
}

/** While there are children, no way out of this process leaves them behind. A signal that somebody else handles ends in an exit. */
function watch(on: boolean): void {
  const change = on ? "on" : "off";
  process[change]("exit", killAll);
  for (const signal of SIGNALS) if (!on || process.listenerCount(signal) === 0) process[change](signal, onSignal);
}

/** Reads `+ group` and `- group`; at the end of its input, whatever ended us, it kills the groups that are left. */
const REAPER = `groups=""
while read -r op group; do
  rest=""
  for one in $groups; do [ "$one" = "$group" ] || rest="$rest $one"; done
  groups="$rest"
  [ "$op" = "+" ] && groups="$groups $group"
done
for one in $groups; do kill -s KILL -- "-$one"; done`;

let reaper: ChildProcess | undefined;

/** Nothing of ours runs when we are killed outright: a shell that waits for our end does it then. */
function tellReaper(line: string): void {
  if (process.platform === "win32") return;
  if (!reaper) {
    const made = spawn("/bin/sh", ["-c", REAPER], { detached: true, stdio: ["pipe", "ignore", "ignore"] });
    made.on("error", () => {});
    made.stdin.on("error", () => {});
    made.once("exit", () => {
      if (reaper === made) reaper = undefined;
    });
    made.unref();
    (made.stdin as { unref?: () => void }).unref?.();
    reaper = made;
  }
  reaper.stdin?.write(`${line}\n`);
}

function join(pid: number): void {
  if (groups.size === 0) watch(true);
  groups.add(pid);
  tellReaper(`+ ${pid}`);
}

function leave(pid: number): void {
  if (!groups.delete(pid)) return;
  tellReaper(`- ${pid}`);
  if (groups.size > 0) return;
  watch(false);
  reaper?.stdin?.end();
  reaper = undefined;
}

const after = (ms: number) =>
  new Promise<void>((resolve) => {
    setTimeout(resolve, ms).unref();
  });

/** A server over stdio in a process group of its own: when it goes, what it started goes too. */
export class ChildTransport implements Transport {
  onclose?: () => void;
  onerror?: (error: Error) => void;
  onmessage?: (message: JSONRPCMessage) => void;
  readonly #options: ChildOptions;
  readonly #buffer = new ReadBuffer({ maxBufferSize: LARGEST });
  #child: ChildProcess | undefined;
  #exited: Promise<void> = Promise.resolve();

  constructor(options: ChildOptions) {
    this.#options = options;
  }

  get pid(): number | undefined {
    return this.#child?.pid;
  }

  start(): Promise<void> {
    const { command, args, env, cwd } = this.#options;
    const child = spawn(command, [...args], {
      env,
      detached: process.platform !== "win32",
      windowsHide: true,
      ...(cwd === undefined ? {} : { cwd }),
    });
    this.#child = child;
    this.#exited = new Promise((resolve) => child.once("exit", () => resolve()));
    child.stdout.on("data", (chunk: Buffer) => this.#read(chunk));
    let rest = "";
    child.stderr.on("data", (chunk: Buffer) => {
      const lines = `${rest}${chunk.toString("utf8")}`.split("\n");
      rest = (lines.pop() ?? "").slice(-2_000);
      for (const line of lines) this.#options.onLine(line.slice(0, 2_000));
    });
    for (const stream of [child.stdin, child.stdout, child.stderr]) stream.on("error", (error) => this.onerror?.(error));
    // What is left of its group ends with it, and so closes the pipes: the last words of the leader are read before that counts as the end.
    child.once("exit", () => {
      if (child.pid === undefined) return;
      signalGroup(child.pid, "SIGKILL");
      leave(child.pid);
    });
    child.once("close", () => this.#ended(child));
    return new Promise((resolve, reject) => {
      child.once("error", reject);
      child.once("spawn", () => {
        if (child.pid !== undefined) join(child.pid);
        resolve();
      });
    });
  }

  #read(chunk: Buffer): void {
    try {
      this.#buffer.append(chunk);
    } catch (error) {
      this.onerror?.(error as Error);
      void this.close();
      return;
    }
    for (;;) {
      try {
        const message = this.#buffer.readMessage();
        if (message === null) return;
        this.onmessage?.(message);
      } catch (error) {
        this.onerror?.(error as Error);
      }
    }
  }

  #ended(child: ChildProcess): void {
    this.#buffer.clear();
    if (this.#child !== child) return;
    this.#child = undefined;
    this.onclose?.();
  }

  send(message: JSONRPCMessage): Promise<void> {
    return new Promise((resolve, reject) => {
      const stdin = this.#child?.stdin;
      if (!stdin?.writable) {
        reject(new Error("the process has ended"));
        return;
      }
      if (stdin.write(serializeMessage(message))) resolve();
      else stdin.once("drain", resolve);
    });
  }

  /** End of stdin, then SIGTERM, then SIGKILL, each to the whole group. */
  async close(): Promise<void> {
    const child = this.#child;
    if (!child?.pid) return;
    child.stdin?.end();
    for (const signal of ["SIGTERM", "SIGKILL"] as const) {
      await Promise.race([this.#exited, after(PATIENCE)]);
      if (child.exitCode !== null || child.signalCode !== null) break;
      signalGroup(child.pid, signal);
    }
    await this.#exited;
  }
}
