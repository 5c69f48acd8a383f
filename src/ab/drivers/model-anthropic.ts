import { z } from "zod";
import type { Json, Usage } from "../types.ts";
import { type Asked, type Entry, type ModelApi, type ModelReply, malformed, textOf } from "./model-api.ts";

const BLOCK = z.looseObject({ type: z.string() });
const TEXT = z.object({ type: z.literal("text"), text: z.string() });
const CALL = z.object({ type: z.literal("tool_use"), id: z.string().min(1), name: z.string().min(1), input: z.unknown() });
const USAGE = z.object({
  input_tokens: z.number(),
  output_tokens: z.number(),
  cache_read_input_tokens: z.number().nullish(),
  cache_creation_input_tokens: z.number().nullish(),
});
const REPLY = z.object({ content: z.array(BLOCK), usage: USAGE.nullish() });

function toAsked({ id, name, input }: z.infer<typeof CALL>): Asked {
  if (typeof input === "object" && input !== null && !Array.isArray(input)) return { id, name, args: input as Json };
  return { id, name, args: {}, fault: "The arguments are not a JSON object. Nothing was called." };
}

function toMessage(entry: Entry): Json {
  if (entry.kind === "prompt") return { role: "user", content: entry.text };
  if (entry.kind === "reply") return { role: "assistant", content: entry.reply.raw };
  return {
    role: "user",
    // An error without a text is refused.
    content: entry.results.map(({ id, text, isError }) => ({
      type: "tool_result",
      tool_use_id: id,
      content: text === "" ? "(empty)" : text,
      ...(isError ? { is_error: true } : {}),
    })),
  };
}

/** This API counts what the cache had beside `input_tokens`, not in it. */
function toUsage(usage: z.infer<typeof USAGE>): Usage {
  const cached = usage.cache_read_input_tokens ?? 0;
  return {
    prompt: usage.input_tokens + cached + (usage.cache_creation_input_tokens ?? 0),
    cached,
    completion: usage.output_tokens,
  };
}

function toReply(json: unknown): ModelReply {
  const read = REPLY.safeParse(json);
  if (!read.success) throw malformed(z.prettifyError(read.error).replaceAll("\n", " "));
  const { content, usage } = read.data;
  const calls = content.filter(({ type }) => type === "tool_use").map((block) => CALL.safeParse(block));
  const broken = calls.find(({ success }) => !success);
  if (broken?.error) throw malformed(z.prettifyError(broken.error).replaceAll("\n", " "));
  return {
    text: content.flatMap((block) => TEXT.safeParse(block).data?.text ?? []).join("\n"),
    asked: calls.flatMap(({ data }) => (data ? [toAsked(data)] : [])),
    ...(usage ? { usage: toUsage(usage) } : {}),
    // Whole, with blocks of thinking and their signatures: the API checks them.
    raw: content,
  };
}

/** Anthropic's `/v1/messages`. It has no seed. */
export const anthropic: ModelApi = {
  path: "/v1/messages",
  headers: (key) => ({ "anthropic-version": "2023-06-01", ...(key === undefined ? {} : { "x-api-key": key }) }),
  body: ({ model, system, tools, entries, maxOutput, temperature }) => ({
    model,
    system,
    messages: entries.map(toMessage),
    ...(tools.length > 0
      ? { tools: tools.map((tool) => ({ name: tool.name, description: textOf(tool), input_schema: tool.inputSchema })) }
      : {}),
    max_tokens: maxOutput,
    ...(temperature === undefined ? {} : { temperature }),
  }),
  reply: toReply,
};
