import type { Call, OutcomeNotes } from "../catalog/types.ts";
import { type Read, readBelow } from "./lookups.ts";
import type { Scope } from "./param-titles.ts";
import { isPlain } from "./slim.ts";

/** Writes that make the labels they name, where there are none of that name. */
const LABELLING = new Set(["issue.create", "issue.update", "merge_request.create", "merge_request.update", "epic.create", "epic.update"]);

const PAGE = 100;
/** Labels that are looked up by name where the first page did not hold them. */
const MOST_LOOKUPS = 5;

function labelsIn({ action, params }: Call): string[] {
  if (!LABELLING.has(action.id)) return [];
  const names = [params.labels, params.add_labels].flatMap((list) => (Array.isArray(list) ? list.map(String) : []));
  return [...new Set(names.map((name) => name.trim()).filter((name) => name !== ""))];
}

const namesIn = (found: unknown): string[] => (Array.isArray(found) ? found : []).flatMap((row) => (isPlain(row) ? String(row.name) : []));

async function lookup(names: readonly string[], scope: Scope, read: Read): Promise<readonly string[] | undefined> {
  const first = namesIn(await readBelow(read, scope, "labels", { per_page: String(PAGE) }));
  const missing = names.filter((name) => !first.includes(name));
  if (first.length < PAGE || missing.length === 0) return missing;
  if (missing.length > MOST_LOOKUPS) return undefined;
  const found = await Promise.all(
    missing.map((name) => readBelow(read, scope, "labels", { search: name, per_page: String(PAGE) }).then(namesIn)),
  );
  // A full page may hide the very label that is looked for.
  if (found.some((rows, index) => rows.length >= PAGE && !rows.includes(missing[index] ?? ""))) return undefined;
  return missing.filter((name, index) => !found[index]?.includes(name));
}

/**
 * Which labels of a write do not exist yet, asked just before it is sent. Undefined where that is not known: a read that fails
 * never keeps the write from being sent.
 */
export async function missingLabels(call: Call, read: Read): Promise<readonly string[] | undefined> {
  const names = labelsIn(call);
  const { project_id, group_id } = call.params;
  if (names.length === 0 || (project_id === undefined && group_id === undefined)) return undefined;
  const scope: Scope = project_id === undefined ? { group_id: String(group_id) } : { project_id: String(project_id) };
  return await lookup(names, scope, read).catch(() => undefined);
}

const AUTO = "Auto-merge is set: GitLab merges it by itself once its pipeline succeeds and nothing else blocks. It is not merged yet.";

/** What a reader of a write's answer could take wrongly: a merge that was accepted and has not happened. */
export function hintOf({ action }: Call, body: unknown): Pick<OutcomeNotes, "hint"> {
  const waits = isPlain(body) && body.state === "opened" && body.merge_when_pipeline_succeeds === true;
  return action.id === "merge_request.merge" && waits ? { hint: AUTO } : {};
}

/** What GitLab did beside what was asked: of the labels that were missing, those that its answer now shows. */
export function didOf(missing: readonly string[] | undefined, body: unknown): Pick<OutcomeNotes, "did"> {
  const labels = isPlain(body) && Array.isArray(body.labels) ? body.labels.map((label) => (isPlain(label) ? label.name : label)) : [];
  const made = (missing ?? []).filter((name) => labels.includes(name));
  return made.length > 0 ? { did: { labels_created: made } } : {};
}
