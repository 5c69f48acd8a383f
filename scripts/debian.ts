import { spawnSync } from "node:child_process";
import { setTimeout as pause } from "node:timers/promises";

const ATTEMPTS = 3;

function apt(...args: string[]): boolean {
  const env = { ...process.env, DEBIAN_FRONTEND: "noninteractive" };
  return (
    spawnSync("apt-get", ["-o", "DPkg::Lock::Timeout=120", "-qq", ...args], { env, stdio: ["ignore", "ignore", "inherit"] }).status === 0
  );
}

/** Installs what is missing; a mirror that fails for a moment is asked again. */
export async function installDebian(missing: readonly string[]): Promise<void> {
  for (let attempt = 1; attempt <= ATTEMPTS; attempt++) {
    if (apt("update") && apt("install", "-y", "--no-install-recommends", ...missing)) return;
    if (attempt < ATTEMPTS) await pause(attempt * 5_000);
  }
  throw new Error(`could not install ${missing.join(" and ")} with apt-get; install them by hand and run this again`);
}
