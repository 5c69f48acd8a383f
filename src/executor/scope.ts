import { GITLAB } from "../catalog/load.ts";
import { placeholders } from "../catalog/route.ts";
import type { Action, Call, CallScope, Outcome } from "../catalog/types.ts";
import { isOn, isRawRest } from "../policy/call-effects.ts";
import { commandsIn } from "../policy/commands.ts";
import { type ForeignPlace, isBound, readForeign } from "../policy/foreign.ts";
import { judgeRaw } from "../policy/raw.ts";
import { scopeFlag } from "../policy/rules.ts";
import {
  CHANGES_ABOVE,
  CHANGES_SOURCE,
  globalIdIn,
  isFilterable,
  LANDS,
  ownPlaces,
  placesIn,
  RENDERING,
  reachOf,
  scopesOf,
  WITHOUT_PROJECT,
} from "../policy/scope.ts";
import { addressesIn, foreignMentionsIn, type Mention, mentionsIn, referencesIn } from "../policy/scope-text.ts";
import { toFullPath } from "./identifiers.ts";
import { placeOfItem } from "./item-place.ts";
import { type Cleaned, clean, cleanLint, isNoteFromOutside } from "./scope-clean.ts";
import { cleanContents, cleanFailure, cleanRelayed, type ForeignParts, mayPass } from "./scope-foreign.ts";
import { createJudge, holdsAbove, holdsMention, holdsNamed, type Judge, type Own, ownOf, type ScopeParts } from "./scope-places.ts";

/** The scope of one run: it judges the call first, then every request and every row of it. */
export interface RunScope extends CallScope {
  /** @throws BridgeError not_permitted when the call names, or could reach, what is outside. */
  judge(call: Pick<Call, "action" | "route" | "params">): Promise<void>;
  /** What may be shown of what another server answered to the call that was judged. */
  relayed(result: Json): Promise<Json>;
  /** The same for a resource that an answer led to. */
  contents(result: Json): Promise<Json>;
  /** Whether another server may say this while the call runs. */
  mayPass(said: unknown): Promise<boolean>;
  /** What may be told of another server's failure. */
  failed(error: unknown): Promise<unknown>;
}

type Json = Readonly<Record<string, unknown>>;

export interface RunParts extends ScopeParts {
  /** Reads one thing through the whole road, to see where it belongs. */
  readonly ask?: (name: string, params: Call["params"]) => Promise<Outcome>;
}

/** Values of `project_id` and `group_id` in a path that was made from the template. */
function placesOnPath(template: string, path: string): readonly (readonly ["project" | "group", string])[] {
  const values = path.split("/");
  return template.split("/").flatMap((part, index): (readonly ["project" | "group", string])[] => {
    const kind = part === "{project_id}" ? "project" : part === "{group_id}" ? "group" : undefined;
    return kind ? [[kind, toFullPath(values[index] ?? "")]] : [];
  });
}

const OUTSIDE = "is not inside the projects and groups that this server allows";

type Judged = Pick<Call, "action" | "route" | "params">;

/** Each is looked up. */
const MOST_MENTIONS = 200;

const LINT = "/projects/{project_id}/ci/lint";

class Run implements RunScope {
  readonly #parts: RunParts;
  readonly #judge: Judge;
  readonly #action: Action;
  /** Templates that were judged by the call's own params. */
  readonly #judged = new Set<string>();
  /** Rows must tell where they belong, and belong inside. */
  #strict = false;
  readonly #standings: ForeignParts["standings"] = new Map();
  /** The call of another server's tool, and the place that it names. */
  #foreign: { readonly bound: boolean; readonly own?: Own } = { bound: false };

  constructor(action: Action, parts: RunParts) {
    this.#action = action;
    this.#parts = parts;
    this.#judge = createJudge(parts);
  }

  #refuse(text: string): never {
    const { policy } = this.#parts;
    throw policy.refusal(this.#action, { rule: "scope", kind: "withheld", text, setting: scopeFlag(policy.settings) });
  }

  async judge(call: Judged): Promise<void> {
    const { action, params } = call;
    // What a batch names is judged in its parts, each with an answer of its own.
    if (action.composite === "batch") return;
    if (action.source !== GITLAB) return await this.#judgeForeign(action, params);
    if (!isRawRest(action)) return await this.#judgeOwn(call);
    const { calls, exact, unknown } = judgeRaw(action, params);
    if (!exact) this.#refuse("a path that no action of this server has cannot be limited to the projects that it allows");
    if (unknown !== undefined) this.#refuse(`${unknown} is no field of the action that stands for it, and could lead to any project`);
    for (const one of calls) await this.#judgeOwn(one);
  }

  async #judgeOwn({ action, route, params }: Judged): Promise<void> {
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
    await this.#judgeTexts(action, params);
    await this.#judgeBeyond(action, params);
    if (reach === "items") this.#strict = true;
    this.#judged.add(action.graphql === undefined ? (route?.[1] ?? "") : "/graphql");
  }

  /** GitLab follows what a text says: a reference leaves a note where it leads, a line with a slash is a command. */
  async #judgeTexts(action: Action, params: Call["params"]): Promise<void> {
    const rendering = RENDERING.find((name) => isOn(params[name]));
    if (rendering) this.#refuse(`${rendering} would show titles of whatever the text refers to`);
    const mentions = action.effect === "read" ? referencesIn(params) : [...mentionsIn(params), ...addressesIn(params)];
    await this.#judgeMentions(mentions, ownOf(params));
  }

  async #judgeMentions(all: readonly Mention[], own: Own | undefined): Promise<void> {
    const mentions = new Map(all.map((mention) => [`${mention.kind} ${mention.value.toLowerCase()}`, mention]));
    if (mentions.size > MOST_MENTIONS) this.#refuse(`its texts lead to more places than can be judged (${MOST_MENTIONS})`);
    for (const mention of mentions.values())
      if (!(await holdsMention(this.#judge, mention, own)))
        this.#refuse(`${mention.name} leads outside of them: ${mention.text.slice(0, 100)}`);
  }

  /** Writes that change more than the project that they name. */
  async #judgeBeyond(action: Action, params: Call["params"]): Promise<void> {
    if (CHANGES_ABOVE.has(action.id) && !(await holdsAbove(this.#judge, ownOf(params))))
      this.#refuse("it changes the group above the project, which is not inside them");
    await this.#judgeSource(action, params);
    // What a text says to do is judged like the action that does it; it has no params of its own.
    const { project_id, merge_request_iid } = params;
    // The branch of a new one is in the project that the call names.
    if (merge_request_iid === undefined) return;
    for (const command of commandsIn(action, params)) await this.#judgeSource(command.action, { project_id, merge_request_iid });
  }

  /** The project that the branch of a merge request is in. */
  async #judgeSource(action: Action, params: Call["params"]): Promise<void> {
    const changes = CHANGES_SOURCE[action.id];
    if (!changes) return;
    const { param, standing } = changes;
    const asked = param === undefined ? undefined : params[param];
    // An answer that says no wins over what was asked for before.
    if (asked === undefined ? param !== undefined && standing === undefined : !isOn(asked)) return;
    const { project_id, merge_request_iid } = params;
    const found = await this.#parts.ask?.("merge_request.get", { project_id, merge_request_iid, full: true });
    const now = found?.kind === "value" ? found.value : {};
    if (asked === undefined && standing !== undefined && standing in now && !isOn(now[standing])) return;
    const source = now.source_project_id;
    if (typeof source !== "number" || !(await this.#judge.holds("project", String(source))))
      this.#refuse("it changes the project that the source branch is in, which is not inside them");
  }

  /** A tool of another server: every place that its arguments name must be inside, and one must be named. */
  async #judgeForeign(action: Action, params: Call["params"]): Promise<void> {
    const { places, unknown } = readForeign(action, params);
    if (unknown !== undefined) this.#refuse(`${unknown} could lead to any project`);
    if (places.length === 0) this.#refuse("this call names no project, and without one it cannot be limited");
    const inside = await Promise.all(places.map((place) => this.#holdsForeign(place)));
    const first = places[inside.indexOf(false)];
    if (first) this.#refuse(`${first.name} ${first.value} ${OUTSIDE}`);
    const own = await this.#ownOfForeign(places);
    if (action.effect !== "read") await this.#judgeMentions(foreignMentionsIn(params), own);
    this.#foreign = { bound: isBound(action, params), ...(own ? { own } : {}) };
  }

  /** Where a tool's texts would be read: the first project that the call names, else the first group. */
  async #ownOfForeign(places: readonly ForeignPlace[]): Promise<Own | undefined> {
    const found = places.flatMap(({ kind, value }): { value: string; group: boolean }[] => {
      if (kind !== "address") return [{ value: toFullPath(value), group: kind === "group" }];
      const target = this.#judge.target(value);
      const path = target?.project ?? target?.group;
      return path === undefined ? [] : [{ value: path, group: target?.group !== undefined }];
    });
    const first = found.find(({ group }) => !group) ?? found[0];
    if (!first) return undefined;
    const isProject = !first.group && (await this.#judge.holds("project", first.value));
    return { kind: isProject ? "project" : "group", value: first.value };
  }

  #foreignParts(): ForeignParts {
    return { ...this.#parts, judge: this.#judge, own: this.#foreign.own, standings: this.#standings };
  }

  relayed(result: Json): Promise<Json> {
    return cleanRelayed(result, this.#foreign.bound, this.#foreignParts());
  }

  contents(result: Json): Promise<Json> {
    return cleanContents(result, this.#foreignParts());
  }

  mayPass(said: unknown): Promise<boolean> {
    return mayPass(said, this.#foreign.bound, this.#foreignParts());
  }

  failed(error: unknown): Promise<unknown> {
    return cleanFailure(error, this.#foreign.bound, this.#foreignParts());
  }

  async #holdsForeign({ kind, value }: ForeignPlace): Promise<boolean> {
    if (kind === "address") {
      const target = this.#judge.target(value);
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

  async lead(url: URL, from: URL): Promise<void> {
    // Other hosts are asked without the credential; the same path was admitted before.
    if (!this.#judge.isHere(url) || url.pathname === from.pathname) return;
    const target = this.#judge.target(url.href);
    const place = target?.project ?? target?.group;
    const holds = place !== undefined && (await this.#judge.holds(target?.group === undefined ? "project" : "group", place));
    if (!holds) this.#refuse("GitLab's answer leads on to a place that is not inside the projects and groups that this server allows");
  }

  async #isShown(item: unknown): Promise<boolean> {
    const told = placeOfItem(item, this.#judge.target);
    if (await isNoteFromOutside(item, this.#judge)) return false;
    if (!told) return !this.#strict;
    const { kind, place } = told;
    if (await this.#judge.isInside(kind, place)) return true;
    if (place.id === undefined || place.path !== undefined) return false;
    return this.#judge.holds(kind, String(place.id));
  }

  async keep(items: readonly unknown[]): Promise<{ items: readonly unknown[]; filtered: boolean }> {
    const shown = await Promise.all(items.map((item) => this.#isShown(item)));
    const kept = items.filter((_item, index) => shown[index]);
    const cleaned = await Promise.all(kept.map((item) => this.#clean(item)));
    return {
      items: cleaned.map(({ value }) => value),
      filtered: this.#strict || kept.length < items.length || cleaned.some(({ cut }) => cut),
    };
  }

  async #clean(value: unknown): Promise<Cleaned> {
    const first = await clean(value, this.#judge);
    if (!this.#judged.has(LINT)) return first;
    const second = await cleanLint(first.value, this.#judge);
    return { value: second.value, cut: first.cut || second.cut };
  }

  async part(value: unknown, effect: Action["effect"]): Promise<Cleaned> {
    const told = effect === "read" ? placeOfItem(value, this.#judge.target) : undefined;
    const isAbove = told?.kind === "group" && (await this.#judge.isAbove(told.place.path ?? String(told.place.id)));
    if (told && !isAbove && !(await this.#isShown(value))) this.#refuse("what it answers belongs elsewhere");
    return this.#clean(value);
  }
}

/** The scope of one run of an action; undefined where nothing is limited. */
export function scopeFor(action: Action, parts: RunParts): RunScope | undefined {
  return scopesOf(parts.policy.settings).length === 0 ? undefined : new Run(action, parts);
}
