import { readFileSync, writeFileSync } from "node:fs";

/** Scenario → the revisions it is for. */
export type Scenarios = Readonly<Record<string, readonly string[]>>;

/** All scenarios that one version of the suite has, by what they test: a server, a client, an authorization server. */
export interface Suite {
  readonly version: string;
  readonly server: Scenarios;
  readonly client: Scenarios;
  readonly authorization: Scenarios;
}

type Lists = Readonly<Record<string, readonly string[]>>;

/** What of one version is run against what, by protocol revision; everything else has a reason. */
export interface Plan {
  readonly version: string;
  /** Against the built server, as people run it. */
  readonly server: Lists;
  /** Against our transport with the suite's own fixtures. */
  readonly fixtures: Lists;
  /** Against our side that is a client: the suite's server stands behind the bridge as an upstream. */
  readonly client: Lists;
  /** By scenario, or by scenario and revision. */
  readonly left_out: Readonly<Record<string, string>>;
}

const at = (name: string) => new URL(`../../fixtures/conformance/${name}.json`, import.meta.url);
const read = (name: string): unknown => JSON.parse(readFileSync(at(name), "utf8"));

export const readPlans = (): readonly Plan[] => read("scenarios") as readonly Plan[];
export const readSuites = (): readonly Suite[] => read("suite") as readonly Suite[];
export const writeSuites = (suites: readonly Suite[]): void => writeFileSync(at("suite"), `${JSON.stringify(suites, undefined, 2)}\n`);

const SECTIONS = { server: /^Server scenarios/m, client: /^Client scenarios/m, authorization: /^Authorization server scenarios/m } as const;

/** The suite's own list, read from what `conformance list` says. */
export function parseSuite(version: string, text: string): Suite {
  const starts = Object.values(SECTIONS).flatMap((pattern) => pattern.exec(text)?.index ?? []);
  const scenariosIn = (pattern: RegExp): Scenarios => {
    const from = pattern.exec(text)?.index;
    if (from === undefined) return {};
    const to = Math.min(text.length, ...starts.filter((start) => start > from));
    const found = [...text.slice(from, to).matchAll(/^\s+- (\S+) \[([^\]]*)\]/gm)];
    return Object.fromEntries(found.map(([, name = "", revisions = ""]) => [name, revisions.split(",")]));
  };
  const { server, client, authorization } = SECTIONS;
  return { version, server: scenariosIn(server), client: scenariosIn(client), authorization: scenariosIn(authorization) };
}

/** What stands in neither list, or in both, or in a list and nowhere else. */
export function gaps(plan: Plan, suite: Suite): string[] {
  const runs = (lists: readonly Lists[], name: string, revision: string) => lists.some((list) => list[revision]?.includes(name));
  const reason = (name: string, revision: string) => plan.left_out[`${name} ${revision}`] ?? plan.left_out[name];
  const own = (scenarios: Scenarios, lists: readonly Lists[]) =>
    Object.entries(scenarios).flatMap(([name, revisions]) =>
      revisions.flatMap((revision) => {
        const [isRun, why] = [runs(lists, name, revision), reason(name, revision)];
        if (!isRun && !why) return [`${name} ${revision} is neither run nor left out with a reason`];
        return isRun && why ? [`${name} ${revision} is run, and left out too`] : [];
      }),
    );
  const named = (lists: readonly Lists[], scenarios: Scenarios) =>
    lists.flatMap((list) =>
      Object.entries(list).flatMap(([revision, names]) =>
        names
          .filter((name) => !scenarios[name]?.includes(revision))
          .map((name) => `${name} ${revision} is to be run, but not in the suite`),
      ),
    );
  const all: Scenarios = { ...suite.server, ...suite.client, ...suite.authorization };
  const idle = Object.keys(plan.left_out).filter((key) => {
    const [name = "", revision] = key.split(" ");
    return revision === undefined ? !all[name] : !all[name]?.includes(revision);
  });
  return [
    ...own(suite.server, [plan.server, plan.fixtures]),
    ...own(suite.client, [plan.client]),
    ...own(suite.authorization, []),
    ...named([plan.server, plan.fixtures], suite.server),
    ...named([plan.client], suite.client),
    ...idle.map((key) => `${key} is left out, but not in the suite`),
  ];
}
