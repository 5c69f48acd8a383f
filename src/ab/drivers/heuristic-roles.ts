import type { ListedTool } from "../types.ts";
import { type Offer, type Param, paramsOf, shownText, toOffer } from "./heuristic-offers.ts";
import { stem, wordsOf } from "./heuristic-words.ts";

/** A tool with a part in finding other tools, and the parameter that the part is played with. */
export interface Part {
  readonly tool: ListedTool;
  /** The text to search by, the name of what is meant, or the name of the group. */
  readonly key: Param;
  /** A list of names within the group. */
  readonly names?: Param;
  /** The key names a group, not a tool. */
  readonly group?: boolean;
  /** The arguments of a named action. */
  readonly params?: Param;
  readonly others: readonly Param[];
}

/** What the list holds, by the parts that tools can play for any server. */
export interface Roles {
  readonly searchers: readonly Part[];
  readonly runners: readonly Part[];
  readonly dispatchers: readonly Part[];
  readonly openers: readonly Part[];
  readonly showers: readonly Part[];
  readonly listers: readonly ListedTool[];
  readonly plain: readonly Offer[];
}

const stems = (words: string): ReadonlySet<string> => new Set(words.split(" ").map(stem));

/** What discovery is about, … */
const THING = stems("tool tools toolset action operation command capability endpoint");
/** … how it comes in groups, … */
const GROUP = stems("toolset category module toolkit");
const TOOLS: ReadonlySet<string> = new Set([...THING, ...GROUP]);
/** … and what is done with it. */
const FIND = stems("find search discover look recommend match query");
const RUN = stems("run execute call invoke perform dispatch");
const OPEN = stems("enable activate load add expose unlock");
const SHUT = stems("disable deactivate unload");
const SHOW = stems("show list describe get detail what inspect schema available groups browse");
const FREE = stems("query search keyword intent question task want need goal looking text");
const ARGS = stems("params parameters arguments args input payload");

const bag = (...texts: readonly string[]): ReadonlySet<string> => new Set(texts.flatMap(wordsOf).map(stem));
const meet = (a: ReadonlySet<string>, b: ReadonlySet<string>): boolean => [...a].some((one) => b.has(one));
const says = (param: Param, words: ReadonlySet<string>): boolean => meet(bag(param.name, param.about), words);
const isText = ({ type, item }: Param): boolean => type === "string" || (type === "array" && item === "string");

interface Look {
  readonly tool: ListedTool;
  readonly params: readonly Param[];
  /** Stems of name, title and description. */
  readonly all: ReadonlySet<string>;
  readonly name: ReadonlySet<string>;
}

const has = ({ all }: Look, ...sets: readonly ReadonlySet<string>[]): boolean => sets.every((set) => meet(all, set));
const argsOf = ({ params }: Look) => params.find((param) => param.type === "object" && says(param, ARGS));
const part = ({ tool, params }: Look, key: Param, more: Partial<Part> = {}): Part => ({
  tool,
  key,
  others: params.filter((one) => one !== key),
  ...more,
});

/** Runs one named action: a text for the name, an object for its parameters, and a text that says so. With a fixed set of names: a dispatcher. */
function asRunner(look: Look): Part | undefined {
  const params = argsOf(look);
  const key = look.params.find((param) => param.type === "string" && param.required && (param.values !== undefined || says(param, THING)));
  if (!params || !key) return undefined;
  return key.values !== undefined || has(look, RUN, THING) ? part(look, key, { params }) : undefined;
}

/** The name or the first sentence is about finding tools: a search in code or issues that speaks of tools further down is none. */
function isAboutFinding({ tool, name }: Look): boolean {
  const [first = ""] = shownText(tool).split(/[.:;\n]/);
  return meet(name, THING) || (meet(bag(first), FIND) && meet(bag(first), THING));
}

/** Searches for tools or actions by a free text. */
function asSearcher(look: Look): Part | undefined {
  if (argsOf(look) || !has(look, FIND, THING) || !isAboutFinding(look)) return undefined;
  const key = look.params.find((param) => param.required && param.type === "string" && !param.values && meet(bag(param.name), FREE));
  return key && part(look, key);
}

const namesOf = ({ params }: Look, key: Param) =>
  params.find((param) => param !== key && param.type === "array" && param.item === "string" && says(param, THING));

/** Puts the tools of a named group (or named tools) onto the list. */
function asOpener(look: Look): Part | undefined {
  if (argsOf(look) || !has(look, OPEN, THING) || meet(look.name, SHUT) || !meet(look.name, TOOLS)) return undefined;
  const key = look.params.find((param) => isText(param) && meet(bag(param.name), TOOLS));
  const names = key && namesOf(look, key);
  return key ? part(look, key, names ? { names } : {}) : undefined;
}

/** Shows what a named group holds, or how a named tool is called. */
function asShower(look: Look): Part | undefined {
  if (argsOf(look) || !has(look, SHOW, THING) || !meet(look.name, TOOLS) || meet(look.name, SHUT)) return undefined;
  const key = look.params.find(
    (param) => param.required && isText(param) && meet(bag(param.name, param.about), new Set([...TOOLS, "name"])),
  );
  const names = key && namesOf(look, key);
  return key && part(look, key, { group: meet(bag(key.name), GROUP), ...(names ? { names } : {}) });
}

/** Lists the groups: wants nothing, and speaks of groups of tools. */
const isLister = (look: Look): boolean =>
  !look.params.some(({ required }) => required) && has(look, GROUP, THING, SHOW) && meet(look.name, TOOLS);

/**
 * Sorts a list by what names, texts and schemas say. A tool has one part, the first that fits: it runs named actions (with fixed names:
 * it stands for those), searches, opens groups, shows a group, lists groups; everything else is called for its own sake. A lister
 * alone, with nothing that opens or shows what it lists, is a tool like any other.
 */
export function rolesOf(tools: readonly ListedTool[]): Roles {
  const found = { searchers: [] as Part[], runners: [] as Part[], dispatchers: [] as Part[], openers: [] as Part[], showers: [] as Part[] };
  const rest: Look[] = [];
  for (const tool of tools) {
    const name = bag(tool.name);
    const look: Look = { tool, params: paramsOf(tool.inputSchema), name, all: new Set([...name, ...bag(shownText(tool))]) };
    const runner = asRunner(look);
    const searcher = runner ? undefined : asSearcher(look);
    const opener = runner || searcher ? undefined : asOpener(look);
    const shower = runner || searcher || opener ? undefined : asShower(look);
    if (runner) (runner.key.values ? found.dispatchers : found.runners).push(runner);
    else if (searcher) found.searchers.push(searcher);
    else if (opener) found.openers.push(opener);
    else if (shower) found.showers.push(shower);
    else rest.push(look);
  }
  const opens = found.openers.length + found.showers.length > 0;
  const listers = opens ? rest.filter(isLister).map(({ tool }) => tool) : [];
  const plain = rest.filter(({ tool }) => !listers.includes(tool) && !(opens && meet(bag(tool.name), SHUT) && meet(bag(tool.name), THING)));
  return { ...found, listers, plain: plain.map(({ tool }) => toOffer(tool)) };
}
