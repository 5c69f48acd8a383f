import { readFileSync, statSync } from "node:fs";
import { dirname, isAbsolute, join, resolve } from "node:path";
import { pathOnInstance, toFullPath } from "./identifiers.ts";

/** Remote name → address, from the text of a git configuration; the first `url` of each remote counts, as for fetching. */
function remotesOf(config: string): Map<string, string> {
  const remotes = new Map<string, string>();
  let current: string | undefined;
  for (const line of config.split(/\r?\n/)) {
    const section = /^\s*\[([^\]]*)\]/.exec(line);
    if (section) current = /^remote\s+"(.+)"$/.exec(section[1]?.trim() ?? "")?.[1];
    const url = /^\s*url\s*=\s*"?([^"\s]+)"?\s*$/.exec(line)?.[1];
    if (current !== undefined && url && !remotes.has(current)) remotes.set(current, url);
  }
  return remotes;
}

function projectOf(remote: string, instance: string): string | undefined {
  const found = pathOnInstance(remote, instance);
  const path = found && toFullPath(found.path);
  return path?.includes("/") && !path.includes("/-/") ? path : undefined;
}

/**
 * Full path of the project that a git remote (or the text of a git configuration) points to, where its host is the instance:
 * `origin` first, then `upstream`, then the only one.
 */
export function projectFromRemote(text: string, instance: string): string | undefined {
  if (!/^\s*\[/m.test(text)) return projectOf(text.trim(), instance);
  const remotes = remotesOf(text);
  const only = remotes.size === 1 ? [...remotes.values()] : [];
  const choices = [remotes.get("origin"), remotes.get("upstream"), ...only].filter((url) => url !== undefined);
  return choices.map((url) => projectOf(url, instance)).find((path) => path !== undefined);
}

const read = (path: string): string | undefined => {
  try {
    return readFileSync(path, "utf8");
  } catch {
    return undefined;
  }
};

function isDirectory(path: string): boolean {
  try {
    return statSync(path).isDirectory();
  } catch {
    return false;
  }
}

/** Where the configuration of a worktree or submodule is: `.git` is then a file, and a worktree shares its main one's configuration. */
function linkedConfig(dotGit: string): string | undefined {
  const target = /^gitdir:\s*(.+?)\s*$/m.exec(read(dotGit) ?? "")?.[1];
  if (!target) return undefined;
  const gitDir = isAbsolute(target) ? target : resolve(dirname(dotGit), target);
  const common = read(join(gitDir, "commondir"))?.trim();
  return join(common ? resolve(gitDir, common) : gitDir, "config");
}

/** The git configuration of a directory or the nearest one above it. */
function findConfig(directory: string): string | undefined {
  const dotGit = join(directory, ".git");
  if (isDirectory(dotGit)) return join(dotGit, "config");
  const linked = linkedConfig(dotGit);
  if (linked) return linked;
  const parent = dirname(directory);
  return parent === directory ? undefined : findConfig(parent);
}

/**
 * The project of a working directory, read on the first call and kept. No process is started; an unreadable or foreign
 * repository is no project.
 */
export function currentProject(directory: string, instance: string): () => string | undefined {
  let found: { readonly project: string | undefined } | undefined;
  return () => {
    if (!found) {
      const config = findConfig(resolve(directory));
      const text = config === undefined ? undefined : read(config);
      found = { project: text === undefined ? undefined : projectFromRemote(text, instance) };
    }
    return found.project;
  };
}
