import type { Action, Param, Shape } from "../catalog/types.ts";
import { fromJsonText, type Problems, toList } from "./param-values.ts";

export interface Self {
  readonly id: number;
  readonly username: string;
}

/** How names of people become ids; asked only when a call needs it. */
export interface People {
  readonly self?: Self | (() => Self | undefined | Promise<Self | undefined>);
  readonly resolveUser?: (username: string) => Promise<number | undefined>;
}

const USER_ID = /(^|_)(user|assignee|reviewer|author|approver|approved_by|owner)_ids?$/;

const isMe = (text: string) => /^@?me$/i.test(text.trim());

/** Where a value stands: its name, its shape, and whether GitLab reads it from a query or a body. */
interface Spot {
  readonly name: string;
  readonly field: string;
  readonly shape: Shape;
  readonly place: Param["in"];
  readonly graphql: boolean;
}

/** Filters that take an id as text, since they also take these words. */
const ID_FILTER = /^(assignee|reviewer)_id$/;
const isFilterWord = (text: string) => /^(none|any)$/i.test(text.trim());

/** Only an id fits. A path names people by username too, and so does a text in a query. */
function takesIdsAlone({ name, shape, place }: Spot): boolean {
  const kind = shape.type === "array" ? (shape.items?.type ?? "string") : shape.type;
  return kind === "integer" || (kind === "string" && (place === "body" || ID_FILTER.test(name)));
}

/** The text stands for a person: any name where only an id fits, `me` and `@name` elsewhere. */
function isPerson(item: unknown, spot: Spot): item is string {
  if (typeof item !== "string" || item.trim() === "") return false;
  if (!takesIdsAlone(spot)) return isMe(item) || /^@[\w.-]+$/.test(item.trim());
  return /^@?[a-z_][\w.-]*$/i.test(item.trim()) && !(ID_FILTER.test(spot.name) && isFilterWord(item));
}

async function selfOf(people: People): Promise<Self | undefined> {
  return typeof people.self === "function" ? await people.self() : people.self;
}

const NOBODY = "means the user of the token, who is not known here; give the user id";

async function toId(text: string, field: string, people: People, problems: Problems): Promise<number | undefined> {
  const self = isMe(text) ? await selfOf(people) : undefined;
  const id = isMe(text) ? self?.id : await people.resolveUser?.(text.trim().replace(/^@/, ""));
  if (id === undefined) problems.add(field, isMe(text) ? NOBODY : `no user is called ${text}; expected a user id`);
  return id;
}

async function toUsername(text: string, field: string, people: People, problems: Problems): Promise<string | undefined> {
  if (!isMe(text)) return text.trim().replace(/^@/, "");
  const self = await selfOf(people);
  if (!self) problems.add(field, NOBODY.replace("user id", "username"));
  return self?.username;
}

type Turn = (text: string, field: string, people: People, problems: Problems) => Promise<number | string | undefined>;

async function turn(value: unknown, spot: Spot, people: People, problems: Problems, how: Turn): Promise<unknown> {
  const { shape, field, place } = spot;
  const one = async (item: unknown) => (isPerson(item, spot) ? await how(item, field, people, problems) : item);
  const several = shape.type === "string" && place === "body" && typeof value === "string" && value.includes(",");
  if (shape.type !== "array" && !several) return await one(value);
  const items: unknown[] = [];
  for (const item of toList(value, shape.items ?? { type: "string" })) items.push(await one(item));
  return several ? items.join(",") : items;
}

const isObject = (value: unknown): value is Record<string, unknown> => typeof value === "object" && value !== null && !Array.isArray(value);

function howOf({ name, place, graphql }: Spot): Turn | undefined {
  if (USER_ID.test(name)) return toId;
  return /(^|_)usernames?$/.test(name) && (place === "query" || graphql) ? toUsername : undefined;
}

/** The value with its people resolved, also inside objects and lists of them. */
async function resolveIn(value: unknown, spot: Spot, people: People, problems: Problems): Promise<unknown> {
  const how = howOf(spot);
  if (how) return await turn(value, spot, people, problems, how);
  const { shape, field } = spot;
  const given = holdsPeople(spot.name, shape) ? fromJsonText(value) : value;
  if (shape.items && Array.isArray(given)) {
    const items: unknown[] = [];
    for (const [index, item] of given.entries())
      items.push(await resolveIn(item, { ...spot, name: "", field: `${field}[${index}]`, shape: shape.items }, people, problems));
    return items;
  }
  const shapes = (shape.items ?? shape).properties;
  if (!shapes || !isObject(given)) return value;
  const found: Record<string, unknown> = {};
  for (const [name, inner] of Object.entries(given)) {
    const own = Object.hasOwn(shapes, name) ? shapes[name] : undefined;
    found[name] = own ? await resolveIn(inner, { ...spot, name, field: `${field}.${name}`, shape: own }, people, problems) : inner;
  }
  return found;
}

/** `me`, `@me`, `@name` and usernames as user ids; `me` and `@name` in parameters that take usernames. */
export async function resolvePeople(action: Action, values: Map<string, unknown>, people: People, problems: Problems): Promise<void> {
  for (const [name, value] of values) {
    const param = Object.hasOwn(action.params, name) ? action.params[name] : undefined;
    if (!param) continue;
    const spot: Spot = { name, field: name, shape: param, place: param.in, graphql: action.graphql !== undefined };
    values.set(name, await resolveIn(value, spot, people, problems));
  }
}

/** The parameter may hold names of people, so that its value is read only after they are resolved. */
export function holdsPeople(name: string, shape?: Shape): boolean {
  if (USER_ID.test(name) || /(^|_)usernames?$/.test(name)) return true;
  return Object.entries((shape?.items ?? shape)?.properties ?? {}).some(([inner, own]) => holdsPeople(inner, own));
}
