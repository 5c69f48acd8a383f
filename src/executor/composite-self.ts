import type { Outcome } from "../catalog/types.ts";
import { BridgeError } from "../errors.ts";
import { attempt, type Composite, compact, type Fields, only, pick, text, toValue } from "./composite-read.ts";

const DAY_MS = 86_400_000;

function daysUntil(date: string | undefined): number | undefined {
  const at = date === undefined ? Number.NaN : Date.parse(date);
  return Number.isNaN(at) ? undefined : Math.ceil((at - Date.now()) / DAY_MS);
}

/** GitLab tells of personal, project and group tokens only: of others it says 401 here, though they are good. */
async function toldToken(read: () => Promise<Outcome>, missing: string[]): Promise<Fields> {
  try {
    return toValue(await attempt("token", read, missing));
  } catch (error) {
    if (!(error instanceof BridgeError) || error.code !== "unauthenticated") throw error;
    missing.push("token: GitLab tells nothing of tokens of this kind (OAuth, job)");
    return {};
  }
}

const WHOLE = { full: true };

/** Who the token acts for, what it may do and until when, and which GitLab that is. */
export const whoAmI: Composite = async (call) => {
  const user = toValue(await call.run("user.current_get", WHOLE));
  const [untold, silent]: [string[], string[]] = [[], []];
  const [token, server] = await Promise.all([
    toldToken(() => call.run("personal_access_token.self_get", WHOLE), untold),
    attempt("gitlab", () => call.run("metadata.get", WHOLE), silent).then(toValue),
  ]);
  const missing = [...untold, ...silent];
  const days = daysUntil(text(token, "expires_at"));
  const edition = pick(server, "enterprise");
  const value = compact({
    user: only(user, ["id", "username", "name", "state", "is_admin", "bot"]),
    token:
      Object.keys(token).length === 0
        ? undefined
        : compact({ ...only(token, ["name", "scopes", "active", "expires_at"]), days_left: days }),
    gitlab: compact({ version: text(server, "version"), edition: edition === undefined ? undefined : edition === true ? "EE" : "CE" }),
    missing: missing.length > 0 ? missing : undefined,
  });
  return { kind: "value", value, untrusted: true };
};
