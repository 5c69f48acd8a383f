import { projectLevel } from "./access.ts";
import { isBinary, resolveRef, snapshotOf } from "./git.ts";
import { logOf } from "./git-history.ts";
import { text } from "./input.ts";
import { commitJson } from "./repository-json.ts";
import { repositoryOf } from "./repository-state.ts";
import { type Json, type Project, type Request, ROLE, type SearchScope, type World } from "./types.ts";

/** Lines shown around a hit. */
const AROUND = 2;

interface Wanted {
  readonly words: string;
  readonly filters: readonly ((path: string) => boolean)[];
}

/** Splits `filename:`, `path:` and `extension:` from the words. */
function parse(query: string): Wanted {
  const filters: ((path: string) => boolean)[] = [];
  const words = query.replace(/(?:^|\s)(filename|path|extension):(\S+)/g, (_, kind: string, value: string) => {
    const plain = value.replaceAll("*", "").toLowerCase();
    const part = (path: string) => (kind === "filename" ? (path.split("/").at(-1) ?? "") : path).toLowerCase();
    filters.push(kind === "extension" ? (path) => path.toLowerCase().endsWith(`.${plain}`) : (path) => part(path).includes(plain));
    return "";
  });
  return { words: words.trim().toLowerCase(), filters };
}

const readsCode = (request: Request, project: Project): boolean =>
  project.visibility !== "private" || projectLevel(request.world, request.user, project) >= ROLE.reporter;

function commitOf(request: Request, project: Project) {
  const { git } = repositoryOf(request.world, project);
  const commit = resolveRef(git, text(request.input, "ref") ?? "HEAD", project.default_branch ?? undefined);
  return { git, commit };
}

/** The first hit of a file with its surroundings; a file that is found by its name alone shows its head. */
function hit(project: Project, ref: string, path: string, content: string, words: string): Json | undefined {
  const lines = content.split("\n");
  const at = lines.findIndex((line) => line.toLowerCase().includes(words));
  if (at < 0 && !path.toLowerCase().includes(words)) return undefined;
  const first = Math.max(0, at - AROUND);
  const data = `${lines.slice(first, Math.max(at, 0) + AROUND + 1).join("\n")}\n`;
  const basename = path.replace(/\.[^./]+$/, "");
  return { basename, data, path, filename: path, id: null, ref, startline: first + 1, project_id: project.id };
}

const blobs: SearchScope = (request, query, projects) => {
  const { words, filters } = parse(query);
  return projects
    .filter((project) => readsCode(request, project))
    .flatMap((project) => {
      const { git, commit } = commitOf(request, project);
      const ref = text(request.input, "ref") ?? project.default_branch ?? "";
      return [...snapshotOf(git, commit)].flatMap(([path, entry]): Json[] => {
        const content = git.blobs.get(entry.id);
        if (!content || isBinary(content) || !filters.every((filter) => filter(path))) return [];
        const found = hit(project, ref, path, content.toString("utf8"), words);
        return found ? [found] : [];
      });
    });
};

const commits: SearchScope = (request, query, projects) =>
  projects
    .filter((project) => readsCode(request, project))
    .flatMap((project) => {
      const { git, commit } = commitOf(request, project);
      return (commit ? logOf(git, commit.id) : [])
        .filter(({ id, message }) => message.toLowerCase().includes(query.toLowerCase()) || id.startsWith(query))
        .map((found) => ({ ...commitJson(request.world, project, found), project_id: project.id }));
    });

/** Search in files and in commit messages. */
export function seedRepositorySearch(world: World): void {
  world.search.set("blobs", blobs);
  world.search.set("commits", commits);
}
