import { encode } from "gpt-tokenizer/encoding/o200k_base";
import { gitlabFindAction } from "../src/surface/tools/gitlab-find-action.ts";
import { connectionFor } from "../test/support/bridge.ts";

/** Tokens (o200k) of an answer of the entry tool. */
export interface AnswerTokens {
  readonly text: number;
  readonly json: number;
}

/** What an answer to a query costs, in both forms. */
export function answerer(): (query: string) => Promise<AnswerTokens> {
  const connection = connectionFor("--admin");
  return async (query) => {
    const answer = await gitlabFindAction.run({ query }, {
      connection,
      link: { era: "legacy", transport: "stdio", canTell: () => true },
      context: { principal: { instance: "https://gitlab.example" }, canAsk: false, meta: {}, signal: new AbortController().signal },
      named: (tool) => tool,
      tellListChanged: async () => undefined,
    } as Parameters<typeof gitlabFindAction.run>[1]);
    if (!("text" in answer) || !("json" in answer)) throw new Error(`no answer to ${query}`);
    return { text: encode(answer.text as string).length, json: encode(JSON.stringify(answer.json)).length };
  };
}
