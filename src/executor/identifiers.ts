/** What a GitLab address or reference names. */
export interface Target {
  readonly project?: string;
  readonly group?: string;
  /** `merge_request`, `issue`, `pipeline`, `job`, `commit`, `file`, `tree` … */
  readonly kind?: string;
  readonly number?: number;
  readonly sha?: string;
  readonly ref?: string;
  readonly path?: string;
  readonly note?: number;
}

interface Address {
  readonly host: string;
  readonly path: string;
  readonly hash: string;
  readonly ssh: boolean;
}

const DEFAULT_PORTS: Readonly<Record<string, string>> = { "http:": "80", "https:": "443" };

function parseUrl(text: string): URL | undefined {
  return URL.canParse(text) ? new URL(text) : undefined;
}

/** `https://host/…`, `ssh://git@host/…` and `git@host:group/app.git`; nothing for any other text. */
function parseAddress(text: string): Address | undefined {
  const scp = /^[\w.-]+@([\w.-]+):(?!\/\/)(\S+)$/.exec(text);
  if (scp?.[1] && scp[2]) return { host: scp[1].toLowerCase(), path: scp[2], hash: "", ssh: true };
  if (!/^(https?|ssh|git\+ssh|git):\/\/\S+$/i.test(text)) return undefined;
  const url = parseUrl(text);
  if (!url) return undefined;
  const ssh = !/^https?:$/.test(url.protocol);
  const port = url.port || DEFAULT_PORTS[url.protocol] || "";
  // A dot at the end of a name means the same host.
  const hostname = url.hostname.replace(/\.$/, "");
  const host = ssh || port === DEFAULT_PORTS[url.protocol] ? hostname : `${hostname}:${port}`;
  return { host, path: url.pathname, hash: url.hash, ssh };
}

/** The text is an address of something, on whatever host. */
export const isAddress = (text: string): boolean => parseAddress(text) !== undefined;

/** Undoes `%2F`, also where it was encoded twice. */
export function decodePath(text: string): string {
  let plain = text;
  for (let round = 0; round < 3 && /%[0-9a-f]{2}/i.test(plain); round++) {
    try {
      plain = decodeURIComponent(plain);
    } catch {
      return plain;
    }
  }
  return plain;
}

const trimPath = (path: string) => path.replace(/^\/+|\/+$/g, "").replace(/\.git$/, "");

/** A project or group as it is named: full path without slashes at its ends, without `.git`, decoded; numbers as they are. */
export const toFullPath = (text: string): string => trimPath(decodePath(text.trim()));

/**
 * The path of an address below the instance's root, without slashes at its ends.
 * @returns undefined when the text is no address of this instance.
 */
export function pathOnInstance(text: string, instance: string): { path: string; hash: string; ssh: boolean } | undefined {
  const address = parseAddress(text);
  const own = parseAddress(instance);
  if (!address || !own) return undefined;
  const hostname = own.host.replace(/:\d+$/, "");
  if (address.host !== (address.ssh ? hostname : own.host)) return undefined;
  const root = `/${own.path.replace(/\/api\/v4\/?$/, "").replace(/^\/+|\/+$/g, "")}`;
  const path = `/${address.path.replace(/^\/+/, "")}`;
  const under = root === "/" || path === root || path.startsWith(`${root}/`);
  if (!under && !address.ssh) return undefined;
  const rest = under && root !== "/" ? path.slice(root.length) : path;
  return { path: rest.replace(/^\/+|\/+$/g, ""), hash: address.hash, ssh: address.ssh };
}

/** Resource part of an address (what stands after `/-/`) → what it names. The first that fits counts. */
const RESOURCES: readonly (readonly [pattern: RegExp, kind: string, groups: readonly ("number" | "sha" | "ref" | "path")[]])[] = [
  [/^merge_requests\/(\d+)/, "merge_request", ["number"]],
  [/^(?:issues|work_items)\/(?:incident\/)?(\d+)/, "issue", ["number"]],
  [/^epics\/(\d+)/, "epic", ["number"]],
  [/^pipelines\/(\d+)/, "pipeline", ["number"]],
  [/^jobs\/(\d+)/, "job", ["number"]],
  [/^pipeline_schedules\/(\d+)/, "pipeline_schedule", ["number"]],
  [/^environments\/(\d+)/, "environment", ["number"]],
  [/^snippets\/(\d+)/, "snippet", ["number"]],
  [/^boards\/(\d+)/, "board", ["number"]],
  [/^(?:commit|repository\/commits)\/([0-9a-f]{7,64})/, "commit", ["sha"]],
  [/^(?:blob|raw|blame|edit)\/([^/]+)\/(.+)$/, "file", ["ref", "path"]],
  [/^(?:tree|commits)\/([^/]+)(?:\/(.+))?$/, "tree", ["ref", "path"]],
  [/^(?:tags|releases)\/(.+)$/, "tag", ["ref"]],
];

function toResource(text: string): Partial<Target> {
  for (const [pattern, kind, groups] of RESOURCES) {
    const match = pattern.exec(text);
    if (!match) continue;
    const found = groups.flatMap((name, index): [string, unknown][] => {
      const value = match[index + 1];
      return value === undefined ? [] : [[name, name === "number" ? Number(value) : decodePath(value)]];
    });
    return { kind, ...Object.fromEntries(found) };
  }
  return {};
}

/** Splits `group/app/-/issues/1`, the old `group/app/issues/1`, and the API's own `api/v4/projects/group%2Fapp/issues/1`. */
function splitResource(path: string): { owner: string; resource: string; group: boolean } {
  const api = /^api\/v4\/(projects|groups)\/([^/]+)\/?(.*)$/.exec(path);
  if (api) return { owner: toFullPath(api[2] ?? ""), resource: api[3] ?? "", group: api[1] === "groups" };
  const group = /^groups\/(.+)$/.exec(path);
  const rest = group?.[1] ?? path;
  const dash = rest.indexOf("/-/");
  if (dash >= 0) return { owner: rest.slice(0, dash), resource: rest.slice(dash + 3), group: group !== null };
  const old = /^([^/]+(?:\/[^/]+)+?)\/((?:merge_requests|issues|epics|pipelines|jobs|commit|blob|tree|tags)\/.+)$/.exec(rest);
  return { owner: old?.[1] ?? rest.replace(/\/-$/, ""), resource: old?.[2] ?? "", group: group !== null };
}

/** What an address of this instance names; undefined when it is on another host or names nothing. */
export function parseTarget(text: string, instance: string): Target | undefined {
  const found = pathOnInstance(text.trim(), instance);
  if (!found?.path) return undefined;
  const { owner, resource, group } = splitResource(found.path);
  const note = /^#note_(\d+)/.exec(found.hash)?.[1];
  const path = toFullPath(owner);
  return {
    ...(group ? { group: path } : { project: path }),
    ...toResource(resource),
    ...(note ? { note: Number(note) } : {}),
  };
}

const MARKS: Readonly<Record<string, string>> = { "!": "merge_request", "#": "issue", "&": "epic" };

/** `group/app!42`, `!42`, `#17`, `group&3`. A bare `#17` gives no kind: people write it for anything with a number. */
export function parseReference(text: string): Target | undefined {
  const match = /^([\w./-]*)([!#&])(\d{1,15})$/.exec(text.trim());
  const [, owner = "", mark = "", number] = match ?? [];
  if (!match) return undefined;
  const kind = MARKS[mark] ?? "";
  const place = owner === "" ? {} : kind === "epic" ? { group: toFullPath(owner) } : { project: toFullPath(owner) };
  return { ...place, ...(owner === "" && mark === "#" ? {} : { kind }), number: Number(number) };
}

/** `gid://gitlab/Issue/123` → 123. */
export function parseGid(text: string): number | undefined {
  const digits = /^gid:\/\/[\w-]+\/[\w:]+\/(\d{1,15})$/.exec(text.trim())?.[1];
  return digits === undefined ? undefined : Number(digits);
}
