#!/usr/bin/env node
import { homedir } from "node:os";
import { run } from "./cli/run.ts";

run({
  argv: process.argv.slice(2),
  env: process.env,
  cwd: process.cwd(),
  exit: (code) => process.exit(code),
  home: homedir(),
  node: process.execPath,
  script: process.argv[1] ?? "",
  onHangup: (handler) => void process.on("SIGHUP", handler),
  colour: process.stdout.isTTY === true && !process.env.NO_COLOR,
}).catch((error: unknown) => {
  process.stderr.write(`${error instanceof Error ? (error.stack ?? error.message) : String(error)}\n`);
  process.exit(1);
});
