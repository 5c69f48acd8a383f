import type { Counter } from "./count.ts";
import type { Json, ListedTool, Turn } from "./types.ts";

/** A tool as a model's API takes it: titles, annotations and output schemas stay with the host. */
const toolText = ({ name, description, inputSchema }: ListedTool): string =>
  JSON.stringify({ name, description: description ?? "", input_schema: inputSchema });

export const callText = (name: string, args: Readonly<Json>): string => JSON.stringify({ name, arguments: args });

interface Part {
  readonly text: string;
  readonly tokens: number;
}

const sum = (parts: readonly Part[]) => parts.reduce((total, { tokens }) => total + tokens, 0);

/** Tokens of the parts that both begin with; the first part that differs ends the common beginning. */
function commonTokens(now: readonly Part[], before: readonly Part[]): number {
  const differs = before.findIndex(({ text }, index) => now[index]?.text !== text);
  return sum(differs < 0 ? before : before.slice(0, differs));
}

/** Counts turn by turn what a host sends: the list, then instructions and task, then everything said so far. */
export interface Ledger {
  /** From the next turn on this list is sent. */
  list(tools: readonly ListedTool[]): void;
  /** Tokens of that list. */
  listTokens(): number;
  /** Begins a turn: what goes out, and what of it a prompt cache has from the turn before. */
  send(): Pick<Turn, "prompt" | "cached" | "listed">;
  /** What a model or a tool said joins the history; gives its tokens. */
  add(text: string): number;
}

export function createLedger(counter: Counter, instructions: string | undefined, prompt: string): Ledger {
  const toPart = (text: string): Part => ({ text, tokens: counter.count(text) });
  const fixed = [...(instructions ? [instructions] : []), prompt].map(toPart);
  const history: Part[] = [];
  let list: readonly Part[] = [];
  let before: readonly Part[] = [];
  return {
    list(tools) {
      list = tools.map(toolText).map((text) => ({ text, tokens: counter.countOnce(text) }));
    },
    listTokens: () => sum(list),
    send() {
      const now = [...list, ...fixed, ...history];
      const cached = commonTokens(now, before);
      before = now;
      return { prompt: sum(now), cached, listed: list.length };
    },
    add(text) {
      const part = toPart(text);
      history.push(part);
      return part.tokens;
    },
  };
}
