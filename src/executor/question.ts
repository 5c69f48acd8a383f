import type { Action } from "../catalog/types.ts";
import { visibleIn } from "../visible.ts";
import { hideSecrets } from "./secrets.ts";

/** Characters of one argument, and of all of them. */
const MOST_OF_ONE = 120;
const MOST = 800;

const clip = (text: string, most: number) => (text.length > most ? `${text.slice(0, most)}…` : text);

/**
 * What a person is asked. Every argument has a share of its own, so that none can push another out of sight; secrets are masked,
 * nothing in it is invisible, and no line of it can pass for a line of ours.
 */
export function questionFor(action: Pick<Action, "id" | "title" | "entity">, params: Readonly<Record<string, unknown>>): string {
  const safe = visibleIn(hideSecrets(params, action)) as Readonly<Record<string, unknown>>;
  const told = Object.entries(safe).map(([name, value]) => `${name}: ${clip(JSON.stringify(value) ?? "", MOST_OF_ONE)}`);
  return `${action.title}? ${clip(told.join("; "), MOST)} This cannot simply be undone.`;
}
