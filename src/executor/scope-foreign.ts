import { BridgeError } from "../errors.ts";
import type { ForeignPlace } from "../policy/foreign.ts";
import { leadsIn, type Mention } from "../policy/scope-text.ts";
import { tellsOf } from "./foreign-place.ts";
import { toFullPath } from "./identifiers.ts";
import type { Cleaned } from "./scope-clean.ts";
import { holdsMention, type Judge, type Own, type ScopeParts } from "./scope-places.ts";
import { isPlain } from "./slim.ts";

type Plain = Readonly<Record<string, unknown>>;

/**
 * How far a part of another server's answer is vouched for. `open`: the call could have been answered from anywhere, so each thing must
 * tell where it belongs. `bound`: the call means nothing without its place, which is inside. `inside`: it stands in a thing that told
 * that it belongs inside.
 */
type Ground = "open" | "bound" | "inside";

type Standing = "inside" | "above" | "outside" | "silent";

export interface ForeignParts extends ScopeParts {
  readonly judge: Judge;
  readonly own: Own | undefined;
  /** What was found out in this run: an answer may name the same place a thousand times, or a thousand places. */
  readonly standings: Map<string, Promise<Standing>>;
}

const SILENT = "(withheld: it does not tell whether it belongs to the projects and groups that this server allows)";
const LEADS_OUT = "(withheld: it leads out of the projects and groups that this server allows)";
const CUT = "what does not belong to the projects and groups that this server allows was left out of the other server's answer";

/** A text may name so many places, and a whole answer: they are looked up one by one, and what was not is outside. */
const MOST_LEADS = 30;
const MOST_PLACES = 300;
const LONGEST_PLACE = 1_000;

const kept = (value: unknown): Cleaned => ({ value, cut: false });
const withheld = (value: unknown): Cleaned => ({ value, cut: true });

const isTotal = (name: string, value: unknown) =>
  /(^|_)(total|count|pages)(_|$)|(Total|Count|Pages)$/.test(name) && (typeof value === "number" || /^\d+$/.test(String(value)));

/** Addresses of a bridge's own resources name the place as the API does. */
const toAddress = (text: string, instance: string) =>
  text.startsWith("/") ? `${instance}${text}` : text.replace(/^gitlab:\/\/(?=(projects|groups)\/)/, `${instance}/api/v4/`);

async function standingOfAddress({ name, value }: ForeignPlace, parts: ForeignParts): Promise<Standing> {
  const target = parts.judge.target(toAddress(value, parts.instance));
  const path = target?.project ?? target?.group;
  // The projects of another GitLab are not ours, whatever they are called.
  if (!target || path === undefined) return name !== "url" && /^https?:.*\/-\//.test(value) ? "outside" : "silent";
  // One word is a person, or a group as people look at it.
  if (target.kind === undefined && target.group === undefined && !/\/|^\d+$/.test(path)) return "silent";
  return standingOf({ name, kind: target.group === undefined ? "either" : "group", value: path }, parts);
}

/** Found out once, and within bounds. */
function once({ standings }: ForeignParts, key: string, find: () => Promise<Standing>): Promise<Standing> {
  const known = standings.get(key);
  if (known) return known;
  if (standings.size >= MOST_PLACES || key.length > LONGEST_PLACE) return Promise.resolve("outside");
  const found = find();
  standings.set(key, found);
  return found;
}

async function standingOf(place: ForeignPlace, parts: ForeignParts): Promise<Standing> {
  if (place.kind === "address") return standingOfAddress(place, parts);
  return once(parts, `${place.kind} ${place.value.toLowerCase()}`, () => lookUp(place, parts));
}

async function lookUp(place: ForeignPlace, { judge }: ForeignParts): Promise<Standing> {
  const path = toFullPath(place.value);
  if (place.kind !== "group" && (await judge.holds("project", path))) return "inside";
  if (place.kind === "project") return "outside";
  if (await judge.holds("group", path)) return "inside";
  return (await judge.isAbove(path)) ? "above" : "outside";
}

/** Where a thing stands by all that it tells: one place outside is enough. */
async function standingOfThing(thing: unknown, parts: ForeignParts): Promise<Standing> {
  if (!isPlain(thing)) return "silent";
  const all = await Promise.all(tellsOf(thing).map((tell) => standingOf(tell, parts)));
  return (["outside", "inside", "above"] as const).find((one) => all.includes(one)) ?? "silent";
}

/** `project: group/app`, `"project_id": 7`, `Group = acme`, wherever they stand in a text. */
const NAMED =
  /\b(project|repository|repo|group|namespace)(?:[ _-]?(?:id|(?:full[ _-]?)?path))?["'*`]*[ \t]*[:=][ \t]*["'*`]*([\w.-]+(?:(?:\/|%2F)[\w.-]+)+|\d+)/gi;

function placesNamedIn(text: string): readonly ForeignPlace[] {
  const named = [...text.matchAll(NAMED)].map(([, word = "", value = ""]): ForeignPlace => {
    const kind = /^group|^namespace/i.test(word) ? "group" : "project";
    return { name: word, kind: kind === "group" && !/^\d+$/.test(value) ? "either" : kind, value };
  });
  return [...new Map(named.map((place) => [`${place.kind} ${place.value.toLowerCase()}`, place])).values()];
}

/** Whether a text names a place outside: by reference, by address, or as a field would. */
async function leadsOut(text: string, parts: ForeignParts): Promise<boolean> {
  const leads = leadsIn(text);
  const named = placesNamedIn(text);
  if (leads.length + named.length > MOST_LEADS) return true;
  const follow = async (lead: Mention): Promise<Standing> => ((await holdsMention(parts.judge, lead, parts.own)) ? "inside" : "outside");
  const standings = await Promise.all([
    ...leads.map((lead) => once(parts, `lead ${lead.kind} ${lead.value.toLowerCase()}`, () => follow(lead))),
    ...named.map((place) => standingOf(place, parts)),
  ]);
  return standings.includes("outside");
}

function parsed(text: string): unknown {
  if (!/^\s*[[{]/.test(text)) return undefined;
  try {
    const value: unknown = JSON.parse(text);
    // What is too deep to be written again is no data for us.
    JSON.stringify(value);
    return value;
  } catch {
    return undefined;
  }
}

/** JSON is cleaned as what it is; of other texts nothing can be taken out, so that they are shown whole or not at all. */
async function cleanText(text: string, ground: Ground, parts: ForeignParts): Promise<Cleaned> {
  if (ground === "inside") return kept(text);
  const data = parsed(text);
  if (data !== undefined) {
    const { value, cut } = await cleanThing(data, ground, parts);
    return cut ? withheld(typeof value === "string" ? value : JSON.stringify(value)) : kept(text);
  }
  // A single word, such as a state or a cursor, is no text.
  if (ground === "open" && /\s/.test(text.trim())) return withheld(SILENT);
  return (await leadsOut(text, parts)) ? withheld(LEADS_OUT) : kept(text);
}

async function cleanList(items: readonly unknown[], ground: Ground, parts: ForeignParts): Promise<Cleaned> {
  const cleaned = await Promise.all(
    items.map(async (item): Promise<Cleaned | undefined> => {
      const standing = await standingOfThing(item, parts);
      const isShown = standing === "inside" || (standing !== "outside" && (ground !== "open" || Array.isArray(item)));
      return isShown ? cleanValue(item, standing === "inside" ? "inside" : ground, parts) : undefined;
    }),
  );
  return { value: cleaned.flatMap((one) => (one ? [one.value] : [])), cut: cleaned.some((one) => one === undefined || one.cut) };
}

async function cleanFields(thing: Plain, ground: Ground, parts: ForeignParts): Promise<Cleaned> {
  const entries: [string, unknown][] = [];
  let cut = false;
  for (const [name, field] of Object.entries(thing)) {
    const standing = await standingOfThing(field, parts);
    const cleaned = standing === "outside" ? undefined : await cleanValue(field, standing === "inside" ? "inside" : ground, parts);
    if (cleaned) entries.push([name, cleaned.value]);
    cut ||= cleaned === undefined || cleaned.cut;
  }
  // A total would tell of what is left out.
  return { value: Object.fromEntries(cut ? entries.filter(([name, value]) => !isTotal(name, value)) : entries), cut };
}

async function cleanValue(value: unknown, ground: Ground, parts: ForeignParts): Promise<Cleaned> {
  if (typeof value === "string") return cleanText(value, ground, parts);
  if (Array.isArray(value)) return cleanList(value, ground, parts);
  return isPlain(value) ? cleanFields(value, ground, parts) : kept(value);
}

/** An answer, or a text that holds one: nothing stands around it that would tell where it belongs. */
async function cleanThing(value: unknown, ground: Ground, parts: ForeignParts): Promise<Cleaned> {
  const standing = await standingOfThing(value, parts);
  if (standing === "outside") return withheld(LEADS_OUT);
  return cleanValue(value, standing === "inside" ? "inside" : ground, parts);
}

const asText = ({ value, cut }: Cleaned): Cleaned => ({ value: { type: "text", text: String(value) }, cut });

async function cleanResource(resource: Plain, ground: Ground, parts: ForeignParts): Promise<Cleaned> {
  const standing = await standingOfThing({ uri: resource.uri }, parts);
  const here = ground === "open" && standing === "inside" ? "bound" : ground;
  if (standing === "outside") return asText(withheld(LEADS_OUT));
  if (typeof resource.text !== "string") return here === "open" ? asText(withheld(SILENT)) : kept({ type: "resource", resource });
  const { value, cut } = await cleanText(resource.text, here, parts);
  return { value: { type: "resource", resource: { ...resource, text: value } }, cut };
}

async function cleanBlock(block: Plain, ground: Ground, parts: ForeignParts): Promise<Cleaned> {
  if (block.type === "text") return asText(await cleanText(String(block.text), ground, parts));
  if (block.type === "resource" && isPlain(block.resource)) return cleanResource(block.resource, ground, parts);
  // What a link leads to is judged by the link: one that names no place cannot be.
  if (block.type === "resource_link")
    return (await standingOfThing({ uri: block.uri }, parts)) === "inside" ? kept(block) : asText(withheld(SILENT));
  return ground === "open" ? asText(withheld(SILENT)) : kept(block);
}

function toStructured(value: unknown, cut: boolean): Plain {
  const fields = isPlain(value) ? value : { result: value };
  return cut ? { ...fields, filtered: CUT } : fields;
}

/**
 * The result of another server's tool without what does not belong inside, which is said in both forms. Only what is known to hold
 * content is passed on.
 */
export async function cleanRelayed(result: Plain, bound: boolean, parts: ForeignParts): Promise<Plain> {
  const ground = bound ? "bound" : "open";
  const blocks = Array.isArray(result.content) ? result.content.filter(isPlain) : [];
  const content = await Promise.all(blocks.map((block) => cleanBlock(block, ground, parts)));
  const structured = result.structuredContent === undefined ? undefined : await cleanThing(result.structuredContent, ground, parts);
  const cut = content.some((one) => one.cut) || structured?.cut === true;
  return {
    content: [...content.map(({ value }) => value), ...(cut ? [{ type: "text", text: `(${CUT})` }] : [])],
    ...(structured ? { structuredContent: toStructured(structured.value, cut) } : {}),
    ...(result.isError === true ? { isError: true } : {}),
  };
}

/** The contents of a resource that an answer led to, under the same rules. */
export async function cleanContents(result: Plain, parts: ForeignParts): Promise<Plain> {
  const contents = Array.isArray(result.contents) ? result.contents.filter(isPlain) : [];
  const cleaned = await Promise.all(contents.map((one) => cleanResource(one, "open", parts)));
  return {
    contents: cleaned.map(({ value }, at) => {
      const { resource, text } = value as Plain;
      return resource ?? { uri: contents[at]?.uri, mimeType: "text/plain", text };
    }),
  };
}

/** A failure in another server's own words, where these may be told; its code and what can be done stay in any case. */
export async function cleanFailure(error: unknown, bound: boolean, parts: ForeignParts): Promise<unknown> {
  if (!(error instanceof BridgeError)) return error;
  const { upstream, ...detail } = error.detail;
  if (await mayPass({ message: error.message, ...(upstream ? { upstream } : {}) }, bound, parts)) return error;
  return new BridgeError(error.code, `The other server failed. ${SILENT}`, error.hint, detail);
}

/** Whether something else that another server says while it runs, such as a question, may be passed on as it is. */
export async function mayPass(said: unknown, bound: boolean, parts: ForeignParts): Promise<boolean> {
  return !(await cleanThing(said, bound ? "bound" : "open", parts)).cut;
}
