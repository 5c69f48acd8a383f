import type { Settings } from "../config/options.ts";

/** The lists that limit what may be used, and where. */
export interface Ceiling {
  readonly allowToolsets: readonly string[];
  readonly allowTools: readonly string[];
  readonly allowProjects: readonly string[];
  readonly allowGroups: readonly string[];
}

/** Settings, and the ceilings of those who narrowed them further: an action must be under every one. */
export type Limits = Settings & { readonly further?: readonly Ceiling[] };

/** What one connection asks for itself. Nothing in it can allow more; values that would are passed over. */
export interface Wishes extends Partial<Ceiling> {
  /** What is on at connect and how it looks: no permission hangs on these. */
  readonly toolsets?: readonly string[];
  readonly tools?: readonly string[];
  readonly style?: Settings["style"];
  readonly prefix?: string;
  readonly project?: string;
  readonly splitExecute?: boolean;
  readonly enablement?: Settings["enablement"];
  readonly metaSchemas?: Settings["metaSchemas"];
  readonly toolHints?: Settings["toolHints"];
  readonly capabilities?: Settings["capabilities"];
  readonly excludeTools?: readonly string[];
  readonly denyRegex?: readonly string[];
  readonly readOnly?: Settings["readOnly"];
  readonly safeMode?: boolean;
  readonly admin?: boolean;
  readonly tier?: Settings["tier"];
  readonly confirm?: Settings["confirm"];
  readonly revealSecrets?: Settings["revealSecrets"];
  readonly maxWrites?: number;
}

const LISTS = ["allowToolsets", "allowTools", "allowProjects", "allowGroups"] as const;
const SHAPE = [
  "toolsets",
  "tools",
  "style",
  "prefix",
  "project",
  "splitExecute",
  "enablement",
  "metaSchemas",
  "toolHints",
  "capabilities",
] as const;

/** From loose to tight. */
const CONFIRM: readonly Settings["confirm"][] = ["off", "flag", "human"];
const REVEAL: readonly Settings["revealSecrets"][] = ["result", "file", "never"];
const TIER: readonly Settings["tier"][] = [undefined, "ultimate", "premium", "free"];

const tighter = <T>(order: readonly T[], one: T, other: T | undefined): T =>
  other !== undefined && order.indexOf(other) > order.indexOf(one) ? other : one;

/** Read-only in the toolsets of both; `true` holds everywhere. */
export function bothReadOnly(one: Settings["readOnly"], other: Settings["readOnly"] = false): Settings["readOnly"] {
  if (one === true || other === true) return true;
  const names = joined(one || [], other || []);
  return names.length > 0 ? names : false;
}

const joined = (one: readonly string[], other: readonly string[] = []): readonly string[] =>
  other.length === 0 ? one : [...new Set([...one, ...other])];

/** The ceilings to be under, one for each who set some. */
export function ceilingsOf(limits: Limits): readonly Ceiling[] {
  return [limits, ...(limits.further ?? [])];
}

function furtherOf(limits: Limits, wishes: Wishes): Pick<Limits, "further"> {
  const own = Object.fromEntries(LISTS.map((name) => [name, wishes[name] ?? []])) as unknown as Ceiling;
  const isEmpty = LISTS.every((name) => own[name].length === 0);
  const further = [...(limits.further ?? []), ...(isEmpty ? [] : [own])];
  return further.length > 0 ? { further } : {};
}

/**
 * The operator's settings with one connection's own wishes on top. It only narrows: whatever is wished, no action becomes possible
 * that was not, nothing that asked or was shown runs unasked, and no secret is told that was kept.
 */
export function narrow(limits: Limits, wishes: Wishes): Limits {
  const shape = Object.fromEntries(SHAPE.flatMap((name) => (wishes[name] === undefined ? [] : [[name, wishes[name]]])));
  return Object.freeze({
    ...limits,
    ...shape,
    ...furtherOf(limits, wishes),
    excludeTools: joined(limits.excludeTools, wishes.excludeTools),
    denyRegex: joined(limits.denyRegex, wishes.denyRegex),
    readOnly: bothReadOnly(limits.readOnly, wishes.readOnly),
    safeMode: limits.safeMode || wishes.safeMode === true,
    admin: limits.admin && wishes.admin !== false,
    tier: tighter(TIER, limits.tier, wishes.tier),
    confirm: tighter(CONFIRM, limits.confirm, wishes.confirm),
    revealSecrets: tighter(REVEAL, limits.revealSecrets, wishes.revealSecrets),
    maxWrites: Math.min(limits.maxWrites, wishes.maxWrites ?? limits.maxWrites),
  });
}
