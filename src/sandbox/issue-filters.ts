import { badParams } from "./errors.ts";
import { flag, integer, integers, oneOf, text, texts } from "./input.ts";
import { participants } from "./issuables.ts";
import type { Issuable, IssuableKind, Json, Milestone, Request, User, World } from "./types.ts";

type Test = (row: Issuable) => boolean;
type Input = Readonly<Json>;

const nameless = (value: string) => ["none", "no label"].includes(value.toLowerCase());

function labelTest(input: Input): Test | undefined {
  const names = texts(input, "labels");
  if (!names || names.length === 0) return undefined;
  const [only = ""] = names;
  if (names.length === 1 && nameless(only)) return ({ labels }) => labels.length === 0;
  if (names.length === 1 && only.toLowerCase() === "any") return ({ labels }) => labels.length > 0;
  return ({ labels }) => names.every((name) => labels.some((label) => label.toLowerCase() === name.toLowerCase()));
}

function userTest(
  request: Request,
  input: Input,
  what: "author" | "assignee",
  ids: (row: Issuable) => readonly number[],
): Test | undefined {
  const names = texts(input, `${what}_username`);
  if (names && names.length > 0) {
    const wanted = names.map((name) => request.world.users.find(({ username }) => username === name)?.id);
    return (row) => wanted.every((id) => id !== undefined && ids(row).includes(id));
  }
  const id = text(input, `${what}_id`);
  if (id === undefined || id === "") return undefined;
  if (id === "0" || id.toLowerCase() === "none") return (row) => ids(row).length === 0;
  if (id.toLowerCase() === "any") return (row) => ids(row).length > 0;
  const number = integer(input, `${what}_id`);
  return (row) => ids(row).some((other) => other === number);
}

const running = (world: World, { start_date, due_date, state }: Milestone, which: string) => {
  const today = world.now().slice(0, 10);
  if (state !== "active") return false;
  if (which === "upcoming") return due_date !== null && due_date > today;
  return start_date !== null && start_date <= today && (due_date === null || due_date >= today);
};

function milestoneTest(world: World, input: Input): Test | undefined {
  const title = text(input, "milestone") ?? text(input, "milestone_id");
  if (title === undefined || title === "") return undefined;
  const word = title.toLowerCase().replace("#", "");
  if (word === "none") return ({ milestone_id }) => milestone_id === null;
  if (word === "any") return ({ milestone_id }) => milestone_id !== null;
  const fits = (row: Milestone) => (word === "upcoming" || word === "started" ? running(world, row, word) : row.title === title);
  const ids = new Set(world.milestones.filter(fits).map(({ id }) => id));
  return ({ milestone_id }) => milestone_id !== null && ids.has(milestone_id);
}

function time(input: Input, name: string): number | undefined {
  const value = text(input, name);
  if (!value) return undefined;
  const at = Date.parse(value.replace(" ", "+"));
  const second = Number.isNaN(at) ? Date.parse(value) : at;
  if (Number.isNaN(second)) throw badParams(`${name} is invalid`);
  return second;
}

function timeTests(input: Input): Test[] {
  return (["created", "updated", "closed"] as const).flatMap((what) => {
    const [after, before] = [time(input, `${what}_after`), time(input, `${what}_before`)];
    const at = (row: Issuable) => Date.parse(row[`${what}_at`] ?? "");
    return [
      ...(after === undefined ? [] : [(row: Issuable) => at(row) >= after]),
      ...(before === undefined ? [] : [(row: Issuable) => at(row) <= before]),
    ];
  });
}

function searchTest(input: Input): Test | undefined {
  const words = text(input, "search")?.toLowerCase().split(/\s+/).filter(Boolean);
  if (!words || words.length === 0) return undefined;
  const places = texts(input, "in") ?? ["title", "description"];
  return (row) => {
    const hay = places
      .map((place) => (place === "title" ? row.title : (row.description ?? "")))
      .join("\n")
      .toLowerCase();
    return words.every((word) => hay.includes(word));
  };
}

function emojiTest(request: Request, type: string, input: Input): Test | undefined {
  const name = text(input, "my_reaction_emoji");
  if (!name) return undefined;
  const mine = request.world.emoji.filter((row) => row.awardable_type === type && row.user_id === request.user?.id);
  return ({ id }) => mine.some((row) => row.awardable_id === id && (name === "Any" || row.name === name)) !== (name === "None");
}

function negatable(request: Request, input: Input): Test[] {
  return [
    labelTest(input),
    userTest(request, input, "author", ({ author_id }) => [author_id]),
    userTest(request, input, "assignee", ({ assignee_ids }) => assignee_ids),
    milestoneTest(request.world, input),
  ].filter((test) => test !== undefined);
}

/** created_by_me and assigned_to_me; both spellings are GitLab's. */
export function scopeTest(user: User | undefined, scope: string | undefined): Test | undefined {
  const word = scope?.replaceAll("-", "_");
  if (word === undefined || word === "all") return undefined;
  if (word === "created_by_me") return ({ author_id }) => author_id === user?.id;
  if (word === "assigned_to_me") return ({ assignee_ids }) => user !== undefined && assignee_ids.includes(user.id);
  return undefined;
}

/** The filters that lists of issues and of merge requests share, but for state and scope. */
export function issuableTests(request: Request, type: IssuableKind["type"]): Test[] {
  const { query } = request;
  const iids = integers(query, "iids");
  const not = query.not !== null && typeof query.not === "object" && !Array.isArray(query.not) ? (query.not as Json) : {};
  const subscribed = oneOf(query, "subscribed", ["true", "false"]);
  const tests: (Test | undefined)[] = [
    ...negatable(request, query),
    ...negatable(request, not).map((test) => (row: Issuable) => !test(row)),
    ...timeTests(query),
    iids ? ({ iid }) => iids.includes(iid) : undefined,
    searchTest(query),
    emojiTest(request, type, query),
    subscribed === undefined
      ? undefined
      : (row) =>
          (request.user !== undefined && participants(request.world, type, row).includes(request.user.id)) === (subscribed === "true"),
  ];
  return tests.filter((test) => test !== undefined);
}

/** What only issues have. */
export function issueTests(
  request: Request,
): ((row: { confidential: boolean; issue_type: string; due_date: string | null; weight: number | null }) => boolean)[] {
  const { query, world } = request;
  const confidential = flag(query, "confidential");
  const type = text(query, "issue_type");
  const due = text(query, "due_date");
  const weight = text(query, "weight");
  const today = world.now().slice(0, 10);
  const tests = [
    confidential === undefined ? undefined : (row: { confidential: boolean }) => row.confidential === confidential,
    type === undefined ? undefined : (row: { issue_type: string }) => row.issue_type === type,
    due === "0" ? (row: { due_date: string | null }) => row.due_date === null : undefined,
    due === "any" ? (row: { due_date: string | null }) => row.due_date !== null : undefined,
    due === "overdue" ? (row: { due_date: string | null }) => row.due_date !== null && row.due_date < today : undefined,
    weight === undefined || weight === "Any"
      ? undefined
      : (row: { weight: number | null }) => (weight === "None" ? row.weight === null : row.weight === Number(weight)),
  ];
  return tests.filter((test) => test !== undefined);
}
