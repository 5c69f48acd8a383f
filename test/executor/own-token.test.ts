import { afterEach, describe, expect, it } from "vitest";
import { BridgeError } from "../../src/errors.ts";
import { openRoad, type SandboxRoad } from "../support/sandbox-road.ts";

type Json = Record<string, unknown>;

let road: SandboxRoad;
const FLAGS = ["--confirm=off", "--reveal-secrets=result", "--allow-raw", "--admin", "--retries=0"];
const open = async (token: "root" | "maria", ...flags: string[]) => {
  road = await openRoad({ flags: [...FLAGS, ...flags], token });
  return road;
};
afterEach(() => road?.close());

const ownId = async () => ((await road.ask("/personal_access_tokens/self")) as Json).id;
const ruleOf = (name: string, params: Json) =>
  road.run(name, params).then(
    () => "done",
    (error: unknown) => (error instanceof BridgeError ? (error.detail.rule ?? error.code) : String(error)),
  );
const isAlive = async () => ((await road.ask("/personal_access_tokens/self")) as Json).active === true;

describe("the token in use", () => {
  it("is recognised by the very first call that names it, by id and by value, also in requests written by hand", async () => {
    await open("root");
    const id = await ownId();
    expect(await ruleOf("personal_access_token.rotate", { token_id: id })).toBe("own_token");
    expect(await ruleOf("personal_access_token.revoke", { token_id: String(id) })).toBe("own_token");
    expect(await ruleOf("admin_token.revoke", { token: road.sandbox.tokens.root })).toBe("own_token");
    expect(await ruleOf("gitlab.rest", { method: "DELETE", path: `/personal_access_tokens/${id}` })).toBe("own_token");
    expect(await isAlive()).toBe(true);
  });

  it("another token is rotated and revoked as ever", async () => {
    await open("root");
    const made = (await road.ask("/user/personal_access_tokens", "POST", { name: "spare", scopes: ["read_api"] })) as Json;
    expect(await ruleOf("personal_access_token.revoke", { token_id: made.id })).toBe("done");
    expect(await isAlive()).toBe(true);
  });

  it("may be ended where the operator allows it", async () => {
    await open("maria", "--allow-own-token");
    expect(await ruleOf("personal_access_token.revoke", { token_id: await ownId() })).toBe("done");
    expect(await isAlive()).toBe(false);
  });

  it("is not risked where GitLab does not tell which it is", async () => {
    await open("maria");
    const id = await ownId();
    const restore = road.sandbox.fail({ kind: "503", match: { path: /personal_access_tokens\/self/ } });
    expect(await ruleOf("personal_access_token.revoke", { token_id: id })).toBe("own_token");
    restore();
    expect(await isAlive()).toBe(true);
  });
});
