import childProcess, { type ChildProcess } from "node:child_process";
import { syncBuiltinESMExports } from "node:module";
import { expect } from "vitest";
import { keepPrinted, PRINTED_DIR } from "./printed.ts";

type Stream = ChildProcess["stdout"];

/** What comes out of a stream is kept on its way; the stream itself runs as ever. */
function keep(stream: Stream | ChildProcess["stderr"]): void {
  if (!stream) return;
  const emit = stream.emit.bind(stream);
  let rest = "";
  stream.emit = (event: string | symbol, ...args: unknown[]) => {
    if (event === "data") {
      // Whole lines: a secret that is cut in two would not be found.
      const lines = (rest + String(args[0])).split("\n");
      rest = lines.pop() ?? "";
      if (lines.length > 0) keepPrinted(lines.join("\n"));
    }
    if (event === "end" && rest !== "") keepPrinted(rest);
    return emit(event, ...args);
  };
}

const textOf = (output: unknown) => (typeof output === "string" || output instanceof Uint8Array ? String(output) : "");

/** Everything that a process of these tests prints, and everything that a server of theirs answers over HTTP, is kept. */
function keepAll(): void {
  const { spawn, spawnSync, execFileSync } = childProcess;
  childProcess.spawn = ((...args: Parameters<typeof spawn>) => {
    const child = spawn(...args);
    keep(child.stdout);
    keep(child.stderr);
    return child;
  }) as typeof spawn;
  childProcess.spawnSync = ((...args: Parameters<typeof spawnSync>) => {
    const result = spawnSync(...args);
    keepPrinted(textOf(result.stdout) + textOf(result.stderr));
    return result;
  }) as typeof spawnSync;
  childProcess.execFileSync = ((...args: Parameters<typeof execFileSync>) => {
    const result = execFileSync(...args);
    keepPrinted(textOf(result));
    return result;
  }) as typeof execFileSync;
  syncBuiltinESMExports();
  const { fetch } = globalThis;
  globalThis.fetch = async (...args: Parameters<typeof fetch>) => {
    const response = await fetch(...args);
    const { pathname } = new URL(args[0] instanceof Request ? args[0].url : String(args[0]));
    if (!/\/(mcp|metrics|readyz|healthz)(\/|$)/.test(pathname) || !response.body) return response;
    const copy = response.clone();
    void copy.text().then(keepPrinted, () => {});
    return response;
  };
}

if (process.env[PRINTED_DIR] !== undefined && /[\\/]test[\\/]e2e[\\/]/.test(expect.getState().testPath ?? "")) keepAll();
