import { GITLAB } from "../catalog/load.ts";
import { placeholders } from "../catalog/route.ts";
import type { Action, Call, CallScope } from "../catalog/types.ts";
import { type ForeignPlace, readForeign } from "../policy/foreign.ts";
import type { Limits } from "../policy/narrow.ts";
import type { Policy } from "../policy/policy.ts";
import { scopeFlag } from "../policy/rules.ts";
import {
  globalIdIn,
  holdsGroup,
  holdsProject,
  idsIn,
  isFilterable,
  type Known,
  LANDS,
  type Named,
  ownPlaces,
  type Place,
  placesIn,
  reachOf,
  scopesOf,
  standsAbove,
  WITHOUT_PROJECT,
} from "../policy/scope.ts";
import { parseTarget, toFullPath } from "./identifiers.ts";
import { placeOfItem } from "./item-place.ts";
import type { Look } from "./places.ts";

/** The scope of one run: it judges the call first, then every request and every row of it. */
export interface RunScope extends CallScope {
  /** @throws BridgeError not_permitted when the call names, or could reach, what is outside. */
  judge(call: Pick<Call, "action" | "route" | "params">): Promise<void>;
}

export interface ScopeParts {
  readonly policy: Policy;
  readonly look: Look;
  /** The instance's root. */
  readonly instance: string;
}

/** Names of the allowed ids, asked for once. */
async function learn(limits: Limits, look: Look): Promise<Known> {
  const scopes = scopesOf(limits);
  const names = async (ids: readonly number[], ask: (value: string) => Promise<Place | undefined>) => {
    const found = await Promise.all(ids.map(async (id) => [id, (await ask(String(id)))?.path] as const));
    return new Map(found.flatMap(([id, path]) => (path === undefined ? [] : [[id, path] as const])));
  };
  const projects = await names([...new Set(scopes.flatMap((scope) => idsIn(scope.allowProjects)))], look.project);
  return { projects, groups: await names([...new Set(scopes.flatMap((scope) => idsIn(scope.allowGroups)))], look.group) };
}

/** Places of this caller against all scopes. */
function createJudge({ policy: { settings }, look }: ScopeParts) {
  const scopes = scopesOf(settings);
  let known: Promise<Known> | undefined;
  const knownNow = () => {
    known ??= learn(settings, look);
    return known;
  };
  /** What GitLab says it is; else its own words, which then name nothing but an entry of the list. */
  const placeOf = async (kind: "project" | "group", value: string): Promise<Place> =>
    (await look[kind](value)) ?? (/^\d+$/.test(value) ? { id: Number(value) } : { path: value });
  const hasDots = (value: string) => value.split("/").some((part) => part === "." || part === "..");
  const isInside = async (kind: "project" | "group", place: Place) => {
    const now = await knownNow();
    return scopes.every((scope) => (kind === "project" ? holdsProject : holdsGroup)(scope, place, now));
  };
  return {
    isInside,
    placeOf,
    holds: async (kind: "project" | "group", value: string) => !hasDots(value) && isInside(kind, await placeOf(kind, value)),
    isAbove: async (value: string) => {
      const [place, now] = [await placeOf("group", value), await knownNow()];
      return scopes.every((scope) => standsAbove(scope, place, now) || holdsGroup(scope, place, now));
    },
  };
}

type Judge = ReturnType<typeof createJudge>;

const holdsNamed = async (judge: Judge, kind: Named, value: string): Promise<boolean> => {
  if (kind !== "namespace") return judge.holds(kind, value);
  return judge.holds("group", value);
};

/** Values of `project_id` and `group_id` in a path that was made from the template. */
function placesOnPath(template: string, path: string): readonly (readonly ["project" | "group", string])[] {
  const values = path.split("/");
  return template.split("/").flatMap((part, index): (readonly ["project" | "group", string])[] => {
    const kind = part === "{project_id}" ? "project" : part === "{group_id}" ? "group" : undefined;
    return kind ? [[kind, toFullPath(values[index] ?? "")]] : [];
  });
}

const OUTSIDE = "is not inside the projects and groups that this server allows";

class Run implements RunScope {
  readonly #parts: ScopeParts;
  readonly #judge: Judge;
  readonly #action: Action;
  /** Templates that were judged by the call's own params. */
  readonly #judged = new Set<string>();
  /** Rows must tell where they belong, and belong inside. */
  #strict = false;

  constructor(action: Action, parts: ScopeParts) {
    this.#action = action;
    this.#parts = parts;
    this.#judge = createJudge(parts);
  }

  #refuse(text: string): never {
    const { policy } = this.#parts;
    throw policy.refusal(this.#action, { rule: "scope", kind: "withheld", text, setting: scopeFlag(policy.settings) });
  }

  async judge({ action, route, params }: Pick<Call, "action" | "route" | "params">): Promise<void> {
    // What a batch names is judged in its parts, each with an answer of its own.
    if (action.composite === "batch") return;
    if (action.source !== GITLAB) return await this.#judgeForeign(action, params);
    const reach = reachOf(action, route);
    if (reach === "open") this.#refuse("this form of it cannot be limited to the projects that this server allows");
    const lands = LANDS[action.id];
    if (lands && !lands.some((name) => params[name] !== undefined))
      this.#refuse(`without ${lands.join(" or ")} it would land outside of them`);
    const byId = globalIdIn(action, params);
    if (byId) this.#refuse(`${byId} could lead to any project`);
    const own = ownPlaces(route);
    const named = placesIn(params, own);
    const refused = await Promise.all(named.map(async ([, kind, value]) => !(await holdsNamed(this.#judge, kind, toFullPath(value)))));
    const first = named.find((_one, index) => refused[index]);
    if (first) this.#refuse(`${first[0]} ${first[2]} ${OUTSIDE}`);
    if (reach === "project" && own.length === 0 && named.length === 0)
      this.#refuse("it names no project, and without one it cannot be limited");
    if (route) await this.#judgePath(action, route[1], params);
    if (reach === "items") this.#strict = true;
    this.#judged.add(action.graphql === undefined ? (route?.[1] ?? "") : "/graphql");
  }

  /** A tool of another server: every place that its arguments name must be inside, and one must be named. */
  async #judgeForeign(action: Action, params: Call["params"]): Promise<void> {
    const { places, unknown } = readForeign(action, params);
    if (unknown !== undefined) this.#refuse(`${unknown} could lead to any project`);
    if (places.length === 0) this.#refuse("this call names no project, and without one it cannot be limited");
    const inside = await Promise.all(places.map((place) => this.#holdsForeign(place)));
    const first = places[inside.indexOf(false)];
    if (first) this.#refuse(`${first.name} ${first.value} ${OUTSIDE}`);
  }

  async #holdsForeign({ kind, value }: ForeignPlace): Promise<boolean> {
    if (kind === "address") {
      const target = parseTarget(value, this.#parts.instance);
      const path = target?.project ?? target?.group;
      return path !== undefined && (await this.#holdsForeign({ name: "", kind: target?.group ? "group" : "either", value: path }));
    }
    const path = toFullPath(value);
    if (kind !== "either") return this.#judge.holds(kind, path);
    return (await this.#judge.holds("project", path)) || (await this.#judge.holds("group", path));
  }

  async #judgePath(action: Action, template: string, params: Call["params"]): Promise<void> {
    for (const name of placeholders(template)) {
      if (name !== "project_id" && name !== "group_id") continue;
      const value = toFullPath(String(params[name]));
      const kind = name === "project_id" ? "project" : "group";
      if (await this.#judge.holds(kind, value)) continue;
      if (kind === "group" && isFilterable(action) && (await this.#judge.isAbove(value))) this.#strict = true;
      else this.#refuse(`${kind} ${value} ${OUTSIDE}`);
    }
  }

  async admit(template: string, path: string): Promise<void> {
    const places = placesOnPath(template, path);
    for (const [kind, value] of places) {
      if (await this.#judge.holds(kind, value)) continue;
      if (!(kind === "group" && this.#strict && this.#judged.has(template))) this.#refuse(`${kind} ${value} ${OUTSIDE}`);
    }
    if (places.length === 0 && !(template in WITHOUT_PROJECT) && !this.#judged.has(template))
      this.#refuse("a request that it needs cannot be limited to the projects that this server allows");
  }

  async #isShown(item: unknown): Promise<boolean> {
    const told = placeOfItem(item, this.#parts.instance);
    if (!told) return !this.#strict;
    const { kind, place } = told;
    if (await this.#judge.isInside(kind, place)) return true;
    if (place.id === undefined || place.path !== undefined) return false;
    return this.#judge.holds(kind, String(place.id));
  }

  async keep(items: readonly unknown[]): Promise<{ items: readonly unknown[]; filtered: boolean }> {
    const shown = await Promise.all(items.map((item) => this.#isShown(item)));
    const kept = items.filter((_item, index) => shown[index]);
    return { items: kept, filtered: this.#strict || kept.length < items.length };
  }
}

/** The scope of one run of an action; undefined where nothing is limited. */
export function scopeFor(action: Action, parts: ScopeParts): RunScope | undefined {
  return scopesOf(parts.policy.settings).length === 0 ? undefined : new Run(action, parts);
}
