import { visible } from "../visible.ts";

type Json = Readonly<Record<string, unknown>>;

export const isObject = (value: unknown): value is Json => typeof value === "object" && value !== null && !Array.isArray(value);

/** A result of a call may have this many characters, then it is cut; a whole message stays under the limits of clients. */
export const LARGEST_RESULT = 1_000_000;
const LONGEST_TEXT = 2_000;
const LARGEST_SCHEMA = 100_000;

/** Blocks of the specification, and what each cannot be without. */
const BLOCKS: Readonly<Record<string, (block: Json) => boolean>> = {
  text: ({ text }) => typeof text === "string",
  image: ({ data, mimeType }) => isBase64(data) && typeof mimeType === "string",
  audio: ({ data, mimeType }) => isBase64(data) && typeof mimeType === "string",
  resource_link: ({ uri, name }) => typeof uri === "string" && typeof name === "string",
  resource: ({ resource }) => isObject(resource) && typeof resource.uri === "string" && holdsOne(resource),
};

const isBase64 = (value: unknown): boolean => typeof value === "string" && /^[A-Za-z0-9+/]*={0,2}$/.test(value);
const holdsOne = ({ text, blob }: Json) => typeof text === "string" || isBase64(blob);

const textBlock = (text: string) => ({ type: "text", text });

function cut(text: string, most: number): string {
  return text.length <= most ? text : `${text.slice(0, most)}… (cut: ${text.length} characters)`;
}

/** A block as clients understand it: what the specification does not know becomes text, nothing is lost in silence. */
function cleanBlock(block: unknown): Json {
  if (typeof block === "string") return textBlock(block);
  if (!isObject(block) || typeof block.type !== "string") return textBlock(JSON.stringify(block) ?? "");
  if (BLOCKS[block.type]?.(block)) {
    const { annotations, _meta, ...rest } = block;
    return { ...rest, ...(isObject(annotations) ? { annotations } : {}), ...(isObject(_meta) ? { _meta } : {}) };
  }
  return textBlock(cut(JSON.stringify(block), LARGEST_RESULT / 10));
}

/** Fits the cap: the longest texts are cut, then what is still too large is dropped, and that is said. */
function toSize(content: readonly Json[], structured: unknown): { content: readonly Json[]; structured: unknown } {
  const size = (value: unknown) => JSON.stringify(value)?.length ?? 0;
  if (size(content) + size(structured) <= LARGEST_RESULT) return { content, structured };
  const kept: Json[] = [];
  let left = LARGEST_RESULT * 0.8;
  for (const block of content) {
    const text = typeof block.text === "string" ? cut(block.text, Math.max(0, Math.floor(left))) : undefined;
    const one = text === undefined ? block : { ...block, text };
    const cost = size(one);
    if (cost > left && text === undefined) kept.push(textBlock(`(${String(block.type)} left out: ${cost} characters)`));
    else kept.push(one);
    left -= Math.min(cost, left);
  }
  const fits = size(kept) + size(structured) <= LARGEST_RESULT;
  return fits
    ? { content: kept, structured }
    : { content: [...kept, textBlock("(structured content left out: too large)")], structured: undefined };
}

/**
 * What an upstream answered to a call, in a form that every client takes: the call has run, so it must never turn into a protocol error.
 * An answer that asks for input, and none other, is left to the SDK.
 */
export function cleanResult(result: Json): Json {
  const { content, structuredContent, isError, _meta, task: _task, ...rest } = result;
  const blocks = Array.isArray(content) ? content.map(cleanBlock) : content === undefined || content === null ? [] : [cleanBlock(content)];
  // A client that keeps only text sees the value as well; one that takes only objects gets it in one.
  const plain = structuredContent !== undefined && !isObject(structuredContent);
  const told = plain && !blocks.some((block) => block.type === "text") ? [...blocks, textBlock(JSON.stringify(structuredContent))] : blocks;
  const fitted = toSize(told, plain ? { result: structuredContent } : structuredContent);
  return {
    ...rest,
    content: fitted.content,
    ...(fitted.structured === undefined ? {} : { structuredContent: fitted.structured }),
    ...(isError === true ? { isError: true } : {}),
    ...(isObject(_meta) ? { _meta } : {}),
  };
}

/** `x-mcp-header` is between the upstream and us; what a text hides from a person is shown. */
function stripHeaders(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(stripHeaders);
  if (!isObject(value)) return value;
  const told = (key: string, inner: unknown) =>
    typeof inner === "string" && (key === "description" || key === "title") ? visible(inner) : stripHeaders(inner);
  return Object.fromEntries(Object.entries(value).flatMap(([key, inner]) => (key === "x-mcp-header" ? [] : [[key, told(key, inner)]])));
}

export const listedSchema = (schema: Json): Json => stripHeaders(schema) as Json;

/** One tool of an upstream's list, checked. */
export interface UpstreamTool {
  readonly name: string;
  readonly title?: string;
  readonly description: string;
  /** As it came, `x-mcp-header` included. */
  readonly inputSchema: Json;
  readonly annotations: Json;
  readonly icons?: readonly unknown[];
  readonly meta: Json;
}

/** A tool that clients can take, or why it is left out. */
export function cleanTool(tool: unknown): UpstreamTool | string {
  if (!isObject(tool) || typeof tool.name !== "string" || tool.name === "" || tool.name.length > 200) return "a tool without a usable name";
  const { name, inputSchema } = tool;
  if (!isObject(inputSchema) || (inputSchema.type !== undefined && inputSchema.type !== "object"))
    return `${name}: its input schema is not an object schema`;
  if (inputSchema.properties !== undefined && !isObject(inputSchema.properties)) return `${name}: its input schema is not valid`;
  if (JSON.stringify(inputSchema).length > LARGEST_SCHEMA) return `${name}: its input schema is too large`;
  if (isObject(tool.execution) && tool.execution.taskSupport === "required") return `${name}: it runs only as a task`;
  const annotations = isObject(tool.annotations) ? tool.annotations : {};
  const title = [tool.title, annotations.title].find((one): one is string => typeof one === "string" && one !== "");
  return {
    name,
    ...(title === undefined ? {} : { title: cut(visible(title), 100) }),
    description: cut(typeof tool.description === "string" ? visible(tool.description) : "", LONGEST_TEXT),
    inputSchema: { ...inputSchema, type: "object" },
    annotations,
    ...(Array.isArray(tool.icons) && JSON.stringify(tool.icons).length < 10_000 ? { icons: tool.icons } : {}),
    meta: isObject(tool._meta) && JSON.stringify(tool._meta).length < 10_000 ? tool._meta : {},
  };
}
