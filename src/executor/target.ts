import type { Effect } from "../catalog/types.ts";
import type { Check } from "../errors.ts";
import type { Owner } from "./credentials.ts";

/** What a request was for: everything an error needs to name it. */
export interface Target {
  /** Id of the action, or method and template where no action stands behind the request. */
  readonly action: string;
  /** Project, group or user that it went to, as the caller named it. */
  readonly place?: string;
  readonly effect: Effect;
  /** The instance's root, e.g. `https://host/gitlab`. */
  readonly instance: string;
  /** The read that tells whether a write was done. */
  readonly check?: Check;
  /** The action needs at least this tier or GitLab version, as far as the catalog knows. */
  readonly tier?: string;
  readonly since?: string;
}

export const nameOf = ({ action, place }: Target): string => (place === undefined ? action : `${action} (${place})`);

export const hostOf = ({ instance }: Target): string => new URL(instance).host;

const TOKENS: Readonly<Record<Owner, string>> = {
  caller: "your own token",
  server: "the token of this server",
  visitor: "no token",
  nobody: "no token",
};

export const tokenOf = (owner: Owner): string => TOKENS[owner];
