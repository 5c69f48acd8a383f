import { choose } from "./heuristic-choose.ts";
import { refersBack } from "./heuristic-intents.ts";
import { withoutValues } from "./heuristic-mentions.ts";
import { type Offer, type Param, type Row, rowsOf, shownText, toOffer } from "./heuristic-offers.ts";
import type { Part, Roles } from "./heuristic-roles.ts";
import type { Scene } from "./heuristic-scores.ts";
import { rolesNow, type Session } from "./heuristic-session.ts";
import { type Fields, rank, stem, tieBreak, wordsOf } from "./heuristic-words.ts";

const isYesNo = ({ type }: Param): boolean => type === "boolean";

/** A named action by way of a tool that runs named actions. */
function through(part: Part, name: string, row: Partial<Row>): Offer {
  return {
    name,
    title: row.title ?? "",
    about: row.about ?? "",
    ...(row.params ? { params: row.params } : {}),
    ...(row.effect ? { effect: row.effect } : {}),
    outer: part.others.filter(isYesNo),
    toCall: (args) => {
      const outer = Object.fromEntries(
        part.others
          .filter((one) => isYesNo(one) && args[one.name] === true && !row.params?.some(({ name }) => name === one.name))
          .map(({ name }) => [name, true]),
      );
      const inner = Object.fromEntries(Object.entries(args).filter(([key]) => outer[key] === undefined));
      return { tool: part.tool.name, args: { [part.key.name]: name, ...(part.params ? { [part.params.name]: inner } : inner), ...outer } };
    },
  };
}

/** Of several tools that run actions, one that only reads is for reads. */
function runnerFor({ runners }: Roles, effect: Row["effect"]): Part | undefined {
  const reads = (part: Part) => wordsOf(part.tool.name).includes("read");
  return (effect === "read" ? runners.find(reads) : undefined) ?? runners.find((part) => !reads(part)) ?? runners[0];
}

/** How a row can be called now: by its name where it is listed, else through a tool that runs it; not at all where neither is there. */
function toPath(row: Row, session: Session, roles: Roles): Offer | undefined {
  const listed = session.host.tools.find(({ name }) => row.names.includes(name));
  if (listed) return roles.plain.find(({ name }) => name === listed.name) ?? toOffer(listed);
  const dispatcher = roles.dispatchers.find(({ key }) => key.values?.some((value) => row.names.includes(value)));
  const inside = dispatcher?.key.values?.find((value) => row.names.includes(value));
  if (dispatcher && inside !== undefined) return through(dispatcher, inside, row);
  const runner = runnerFor(roles, row.effect);
  const name = row.names[0];
  return runner && name !== undefined ? through(runner, name, row) : undefined;
}

function keep(rows: readonly Row[], session: Session): Offer[] {
  const roles = rolesNow(session);
  return rows.flatMap((row) => {
    const offer = toPath(row, session, roles);
    if (!offer) return [];
    session.learned.set(offer.name, offer);
    return [offer];
  });
}

const entries = new WeakMap<Roles, readonly Offer[]>();

function entriesOf(roles: Roles): readonly Offer[] {
  const known = entries.get(roles);
  if (known) return known;
  const made = roles.dispatchers.flatMap((part) =>
    (part.key.values ?? []).map((value) => through(part, value, { about: shownText(part.tool) })),
  );
  entries.set(roles, made);
  return made;
}

/** Everything that can be called in this turn without looking for more. */
export function offersNow(session: Session): Offer[] {
  const roles = rolesNow(session);
  const listed = new Set(session.host.tools.map(({ name }) => name));
  const learned = [...session.learned.values()].filter(({ name }) => !listed.has(name));
  const names = new Set(learned.map(({ name }) => name));
  return [...roles.plain, ...entriesOf(roles).filter(({ name }) => !names.has(name)), ...learned];
}

/** What somebody would type: the words of the request without the values in it. */
function searchText({ intent, mentions }: Scene, prompt: string): string {
  const bare = withoutValues((refersBack(intent.core) ? intent.text : intent.core) || prompt, mentions);
  return (bare.match(/[\p{L}\p{N}][\p{L}\p{N}'_-]*/gu) ?? []).slice(0, 25).join(" ");
}

async function search(session: Session, scene: Scene, part: Part): Promise<Offer[]> {
  const query = searchText(scene, session.prompt);
  if (session.searched.has(query)) return [];
  session.searched.add(query);
  const seen = await session.send({ tool: part.tool.name, args: { [part.key.name]: query } });
  return seen.isError ? [] : keep(rowsOf(seen.text), session);
}

/** The groups there are: from a tool that lists them, or from one that opens them and says which when none is named. */
async function groupsOf(session: Session, { listers, openers }: Roles): Promise<readonly Row[]> {
  if (session.groups) return session.groups;
  const tool = listers[0] ?? openers.find(({ key }) => !key.required)?.tool;
  const fixed = openers.flatMap(({ key }) => key.values ?? []).map((name): Row => ({ names: [name], title: "", about: "" }));
  if (fixed.length > 0 || !tool) session.groups = fixed;
  else {
    const seen = await session.send({ tool: tool.name, args: {} });
    session.groups = seen.isError ? [] : rowsOf(seen.text);
  }
  return session.groups;
}

/** The groups that are like the request and not open yet, the best first. */
function likelyGroups(session: Session, groups: readonly Row[], { query }: Scene): string[] {
  const fields = groups.map(
    ({ names, title, about }): Fields => [
      [names.join(" "), 3],
      [title, 2],
      [about, 1],
    ],
  );
  return rank(query, fields)
    .map((score, index) => ({ score, name: groups[index]?.names[0] ?? "" }))
    .filter(({ score, name }) => score > 0 && name !== "" && !session.opened.has(name))
    .sort((a, b) => b.score + tieBreak(session.seed, b.name) - a.score - tieBreak(session.seed, a.name))
    .map(({ name }) => name);
}

export interface Found {
  readonly offers: readonly Offer[];
  /** Best first, by a search or by their likeness among many. */
  readonly ranked: boolean;
}

const NOTHING: Found = { offers: [], ranked: false };

/** The rows that a group is said to hold, before anything is opened. */
async function peek(session: Session, part: Part | undefined, group: string): Promise<readonly Row[]> {
  if (!part) return [];
  const seen = await session.send({ tool: part.tool.name, args: { [part.key.name]: group } });
  return seen.isError ? [] : rowsOf(seen.text);
}

const asOffer = (row: Row): Offer => ({ ...row, name: row.names.join(" "), toCall: () => ({ tool: "", args: {} }) });

/**
 * Opens one group, only the tools that are most like the request where that can be said, and gives what can be called then: in the order
 * of their likeness among all that the group holds, where that was seen.
 */
async function open(session: Session, scene: Scene, roles: Roles, group: string): Promise<Found> {
  session.opened.add(group);
  const opener = roles.openers[0];
  const rows = await peek(
    session,
    roles.showers.find(({ group: ofGroup }) => ofGroup),
    group,
  );
  const best = choose(rows.map(asOffer), scene, session.seed).slice(0, 3);
  if (rows.length > 0 && best.length === 0) return NOTHING;
  if (!opener) return { offers: keep(rows, session), ranked: false };
  const names = best.flatMap(({ offer }) => offer.name.split(" ")[0] ?? []);
  const some = opener.names && names.length > 0 ? { [opener.names.name]: names } : {};
  const key = opener.key.type === "array" ? [group] : group;
  const seen = await session.send({ tool: opener.tool.name, args: { [opener.key.name]: key, ...some } });
  if (seen.isError) return NOTHING;
  const told = rowsOf(seen.text).filter(
    (row) => row.params !== undefined || session.host.tools.some(({ name }) => row.names.includes(name)),
  );
  const chosen = names.flatMap((name) => rows.find((row) => row.names[0] === name) ?? []);
  return { offers: keep([...chosen, ...told], session), ranked: chosen.length > 0 };
}

/** Two groups at most for one request: a person would not open everything either. */
const GROUPS = 2;

/**
 * Looks for more than is at hand: by a search where there is one, else in the groups that are most like the request.
 * Gives what was found; nothing where the server offers no way to look.
 */
export async function discover(session: Session, scene: Scene): Promise<Found> {
  const roles = rolesNow(session);
  const searcher = roles.searchers[0];
  if (searcher) return { offers: await search(session, scene, searcher), ranked: true };
  if (roles.openers.length + roles.showers.length === 0 || roles.dispatchers.length > 0) return NOTHING;
  const groups = likelyGroups(session, await groupsOf(session, roles), scene);
  for (const group of groups.slice(0, GROUPS)) {
    const found = await open(session, scene, rolesNow(session), group);
    if (found.offers.length > 0) return found;
  }
  return NOTHING;
}

/** The values of other parameters that ask for whole schemas. */
function whole(part: Part): Record<string, string> {
  const wanted = part.others.flatMap(({ name, values = [] }) =>
    values.filter((value) => wordsOf(value).map(stem).includes("schema")).map((value) => [name, value]),
  );
  return Object.fromEntries(wanted.slice(0, 1));
}

/** Has the parameters of an offer shown, where nothing has shown them yet and a tool can. */
export async function withParams(session: Session, offer: Offer): Promise<Offer> {
  if (offer.params !== undefined) return offer;
  const { showers, dispatchers } = rolesNow(session);
  const part = showers.find(({ group, names }) => !group || names);
  if (!part || session.shown.has(offer.name)) return offer;
  session.shown.add(offer.name);
  const holder = dispatchers.find(({ key }) => key.values?.includes(offer.name));
  const names = part.names ? { [part.names.name]: [offer.name] } : {};
  const key = holder && part.names ? holder.tool.name : offer.name;
  const args = { [part.key.name]: part.key.type === "array" ? [key] : key, ...names, ...whole(part) };
  const seen = await session.send({ tool: part.tool.name, args });
  const row = rowsOf(seen.text).find(({ names: all, params }) => params !== undefined && (all.includes(offer.name) || !part.names));
  if (!row?.params) return offer;
  // The texts stay: an offer that was looked into must not seem more like the request than those that were not.
  const full: Offer = { ...offer, params: row.params, ...(row.effect ? { effect: row.effect } : {}) };
  session.learned.set(full.name, full);
  return full;
}
