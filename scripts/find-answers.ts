import { encode } from "gpt-tokenizer/encoding/o200k_base";
import { gitlabFindAction } from "../src/surface/tools/gitlab-find-action.ts";
import { connectionFor } from "../test/support/bridge.ts";
import { percentile } from "./find-score.ts";

/** Tokens (o200k) of the answers of the entry tool, in both forms. */
export async function answerTokens(queries: readonly string[]): Promise<Readonly<Record<string, number>>> {
  const connection = connectionFor("--admin");
  const text: number[] = [];
  const json: number[] = [];
  for (const query of queries) {
    const answer = await gitlabFindAction.run({ query }, {
      connection,
      link: { era: "legacy", transport: "stdio", canTell: () => true },
      context: { principal: { instance: "https://gitlab.example" }, canAsk: false, meta: {}, signal: new AbortController().signal },
      named: (tool) => tool,
      tellListChanged: async () => undefined,
    } as Parameters<typeof gitlabFindAction.run>[1]);
    if (!("text" in answer) || !("json" in answer)) continue;
    text.push(encode(answer.text as string).length);
    json.push(encode(JSON.stringify(answer.json)).length);
  }
  return {
    "text median": percentile(text, 0.5),
    "text p95": percentile(text, 0.95),
    "JSON median": percentile(json, 0.5),
    "JSON p95": percentile(json, 0.95),
  };
}
