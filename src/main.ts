#!/usr/bin/env node
import { run } from "./cli/run.ts";

run({
  argv: process.argv.slice(2),
  env: process.env,
  cwd: process.cwd(),
  exit: (code) => process.exit(code),
}).catch((error: unknown) => {
  process.stderr.write(`${error instanceof Error ? (error.stack ?? error.message) : String(error)}\n`);
  process.exit(1);
});
