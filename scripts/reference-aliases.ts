/**
 * Writes src/catalog/data/aliases.json: ids and tool names of another GitLab server → the action of ours that sends the same
 * requests. Names that rows carry themselves stay there.
 *
 *   npx tsx scripts/reference-aliases.ts
 */
import { readFileSync, writeFileSync } from "node:fs";
import { loadActions } from "../src/catalog/load.ts";
import { routesOf } from "../src/catalog/route.ts";

type Reference = readonly [id: string, tool: string, requests: readonly string[]];

/** Where requests alone do not tell: names that do one of several things, and GraphQL names. */
const CHOSEN: Readonly<Record<string, string>> = {
  "access.token_personal_get": "personal_access_token.get",
  "admin.bulk_import_entity_list": "bulk_import.entity_list",
  "group.epic_list": "epic.list",
  "project.integration_list": "integration.list",
  "project.integration_get_group_datadog": "integration.get",
  "project.integration_delete_group_datadog": "integration.delete",
  "repository.archive": "repository.archive_download",
  "repository.file_metadata": "repository.file_get",
  "repository.file_raw_metadata": "repository.file_get",
};

const references = JSON.parse(readFileSync("fixtures/facts/reference.json", "utf8")) as Reference[];
const actions = loadActions();
const bare = (request: string) => request.replace(/\{[^}]*\}|[:*][a-z_]+/g, "{}");
const own = new Map(actions.flatMap(({ id, tool }) => [id, tool].map((name) => [name, id] as const)));
const named = new Map(actions.flatMap(({ id, aliases = [] }) => aliases.map((alias) => [alias, id] as const)));
const byRequest = new Map<string, string[]>();
for (const row of actions)
  for (const route of routesOf(row)) byRequest.set(bare(route.join(" ")), [...(byRequest.get(bare(route.join(" "))) ?? []), row.id]);

function targetOf([id, , requests]: Reference): string | undefined {
  if (CHOSEN[id]) return CHOSEN[id];
  const found = new Set(requests.flatMap((request) => byRequest.get(bare(request)) ?? [""]));
  const carried = named.get(id) ?? own.get(id);
  if (carried !== undefined && (found.has(carried) || requests.some((request) => !/^[A-Z]/.test(request)))) return carried;
  const [only] = found;
  return found.size === 1 && only !== "" ? only : undefined;
}

const entries = references.flatMap((reference): [string, string][] => {
  const target = targetOf(reference);
  if (target === undefined) return [];
  const [id, tool] = reference;
  return [id, tool].filter((name) => !own.has(name) && !named.has(name)).map((name) => [name, target]);
});
writeFileSync(
  "src/catalog/data/aliases.json",
  `{\n${entries
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([name, id]) => `${JSON.stringify(name)}: ${JSON.stringify(id)}`)
    .join(",\n")}\n}\n`,
);
