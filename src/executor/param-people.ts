import type { Action, Param } from "../catalog/types.ts";
import { type Problems, toList } from "./param-values.ts";

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

const kindOf = (param: Param) => (param.type === "array" ? (param.items?.type ?? "string") : param.type);

/** The text stands for a person: any name where a number is asked for, `me` and `@name` elsewhere. */
function isPerson(item: unknown, numeric: boolean): item is string {
  if (typeof item !== "string" || item.trim() === "") return false;
  return numeric ? /^@?[a-z_][\w.-]*$/i.test(item.trim()) : isMe(item) || /^@[\w.-]+$/.test(item.trim());
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

async function turn(value: unknown, field: string, param: Param, people: People, problems: Problems, how: Turn): Promise<unknown> {
  const numeric = kindOf(param) === "integer";
  const one = async (item: unknown) => (isPerson(item, numeric) ? await how(item, field, people, problems) : item);
  if (param.type !== "array") return await one(value);
  const items: unknown[] = [];
  for (const item of toList(value, param.items ?? { type: "string" })) items.push(await one(item));
  return items;
}

/** `me`, `@me`, `@name` and usernames as user ids; `me` and `@name` in parameters that take usernames. */
export async function resolvePeople(action: Action, values: Map<string, unknown>, people: People, problems: Problems): Promise<void> {
  for (const [name, value] of values) {
    const param = Object.hasOwn(action.params, name) ? action.params[name] : undefined;
    if (!param) continue;
    const how = USER_ID.test(name)
      ? toId
      : /_usernames?$|^usernames?$/.test(name) && (param.in === "query" || action.graphql !== undefined)
        ? toUsername
        : undefined;
    if (how) values.set(name, await turn(value, name, param, people, problems, how));
  }
}

/** The parameter may hold names of people, so that its value is read only after they are resolved. */
export const holdsPeople = (name: string): boolean => USER_ID.test(name) || /(^|_)usernames?$/.test(name);
