import { z } from "zod";
import type { Json } from "../types.ts";
import { type Asked, type Entry, type ModelApi, type ModelReply, malformed, textOf } from "./model-api.ts";

const CALL = z.object({ id: z.string().min(1), function: z.object({ name: z.string().min(1), arguments: z.string().nullish() }) });
const MESSAGE = z.object({ content: z.string().nullish(), tool_calls: z.array(CALL).nullish() });
const USAGE = z.object({
  prompt_tokens: z.number(),
  completion_tokens: z.number(),
  prompt_tokens_details: z.object({ cached_tokens: z.number().nullish() }).nullish(),
});
const REPLY = z.object({ choices: z.array(z.object({ message: MESSAGE })).min(1), usage: USAGE.nullish() });

type Call = z.infer<typeof CALL>;

/** Arguments travel as JSON inside a string, and models do get them wrong. */
function toAsked({ id, function: { name, arguments: text } }: Call): Asked {
  try {
    const args: unknown = JSON.parse(text?.trim() || "{}");
    if (typeof args === "object" && args !== null && !Array.isArray(args)) return { id, name, args: args as Json };
  } catch {
    // Said below, as for JSON that is no object.
  }
  return { id, name, args: {}, fault: "The arguments are not a JSON object. Nothing was called." };
}

function toMessages(entry: Entry): Json[] {
  if (entry.kind === "prompt") return [{ role: "user", content: entry.text }];
  if (entry.kind === "reply") return [entry.reply.raw as Json];
  return entry.results.map(({ id, text }) => ({ role: "tool", tool_call_id: id, content: text }));
}

function toReply(json: unknown): ModelReply {
  const read = REPLY.safeParse(json);
  if (!read.success) throw malformed(z.prettifyError(read.error).replaceAll("\n", " "));
  const { choices, usage } = read.data;
  const message = choices[0]?.message ?? {};
  const calls = message.tool_calls ?? [];
  // Only what every server of this API takes back; some add fields that they refuse when they come again.
  const back = calls.map(({ id, function: { name, arguments: text } }) => ({
    id,
    type: "function",
    function: { name, arguments: text ?? "{}" },
  }));
  return {
    text: message.content ?? "",
    asked: calls.map(toAsked),
    ...(usage
      ? {
          usage: {
            prompt: usage.prompt_tokens,
            cached: usage.prompt_tokens_details?.cached_tokens ?? 0,
            completion: usage.completion_tokens,
          },
        }
      : {}),
    raw: { role: "assistant", content: message.content ?? null, ...(back.length > 0 ? { tool_calls: back } : {}) },
  };
}

/** OpenAI's own newer models refuse the old name of the limit, most other servers know no other. */
const limitName = (url: string): string => (new URL(url).hostname === "api.openai.com" ? "max_completion_tokens" : "max_tokens");

/** `/chat/completions`, as OpenAI defined it and most servers of open models offer it. */
export const openAi: ModelApi = {
  path: "/chat/completions",
  headers: (key): Record<string, string> => (key === undefined ? {} : { authorization: `Bearer ${key}` }),
  body: ({ url, model, system, tools, entries, maxOutput, temperature, seed }) => ({
    model,
    messages: [{ role: "system", content: system }, ...entries.flatMap(toMessages)],
    // An empty list is refused by some servers.
    ...(tools.length > 0
      ? {
          tools: tools.map((tool) => ({
            type: "function",
            function: { name: tool.name, description: textOf(tool), parameters: tool.inputSchema },
          })),
        }
      : {}),
    [limitName(url)]: maxOutput,
    seed,
    ...(temperature === undefined ? {} : { temperature }),
  }),
  reply: toReply,
};
