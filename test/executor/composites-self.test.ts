import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { answerOf, failure, type Replies, runComposite, value } from "./composites-run.ts";
import { failureOf } from "./gitlab-fixture.ts";

beforeEach(() => vi.useFakeTimers({ now: Date.parse("2026-11-30T12:00:00Z"), toFake: ["Date"] }));
afterEach(() => vi.useRealTimers());

const USER = { id: 2, username: "maria", name: "Maria", state: "active", avatar_url: "x", is_admin: false };
const TOKEN = { id: 9, name: "Daily work", scopes: ["api"], active: true, revoked: false, expires_at: "2026-12-31" };

const replies =
  (changes: Partial<Record<string, ReturnType<Replies>>> = {}): Replies =>
  (id) =>
    changes[id] ??
    { "user.current_get": value(USER), "personal_access_token.self_get": value(TOKEN) }[id] ??
    value({ version: "18.9.0-ee", revision: "a", enterprise: true });

const check = (changes?: Parameters<typeof replies>[0]) => runComposite("user.access_check", {}, replies(changes)).outcome;

describe("own access", () => {
  it("is the user, the token with what it may do and until when, and GitLab", async () => {
    expect(await answerOf(check())).toEqual({
      user: { id: 2, username: "maria", name: "Maria", state: "active", is_admin: false },
      token: { name: "Daily work", scopes: ["api"], active: true, expires_at: "2026-12-31", days_left: 31 },
      gitlab: { version: "18.9.0-ee", edition: "EE" },
    });
  });

  it("has no days left to tell of a token without an end", async () => {
    const { token } = await answerOf(check({ "personal_access_token.self_get": value({ ...TOKEN, expires_at: null }) }));
    expect(token).toEqual({ name: "Daily work", scopes: ["api"], active: true });
  });

  it("says so where GitLab tells nothing of the token or of itself", async () => {
    const told = await answerOf(
      check({ "personal_access_token.self_get": failure("unauthenticated"), "metadata.get": failure("not_permitted") }),
    );
    expect(told).toMatchObject({ user: { username: "maria" }, missing: [expect.stringContaining("OAuth"), "gitlab: not_permitted"] });
    expect(told.token).toBeUndefined();
  });

  it("fails where the token is good for nothing, and where there have been too many requests", async () => {
    expect((await failureOf(check({ "user.current_get": failure("unauthenticated") }))).code).toBe("unauthenticated");
    expect((await failureOf(check({ "personal_access_token.self_get": failure("rate_limited") }))).code).toBe("rate_limited");
  });
});
