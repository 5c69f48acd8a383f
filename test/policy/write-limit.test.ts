import { describe, expect, it } from "vitest";
import { BridgeError } from "../../src/errors.ts";
import { createWriteLimit } from "../../src/policy/write-limit.ts";

function refusal(check: () => void): BridgeError {
  try {
    check();
  } catch (error) {
    expect(error).toBeInstanceOf(BridgeError);
    return error as BridgeError;
  }
  throw new Error("was let through");
}

describe("writes per minute", () => {
  it("the one too many is refused with the time to wait, and the window slides", () => {
    let now = 0;
    const limit = createWriteLimit(() => now);
    for (const at of [0, 10_000, 20_000]) {
      now = at;
      limit.check("ann", 3);
      limit.count("ann");
    }
    now = 30_000;
    const error = refusal(() => limit.check("ann", 3));
    expect(error.code).toBe("rate_limited");
    expect(error.detail).toMatchObject({ rule: "write_rate", retry_after: 30 });
    expect(error.hint).toMatch(/Nothing was sent\. Call again in 30 s/);
    now = 60_000;
    expect(() => limit.check("ann", 3)).not.toThrow();
    limit.count("ann");
    expect(refusal(() => limit.check("ann", 3)).detail.retry_after).toBe(10);
  });

  it("users are counted apart, and a smaller limit holds for what was made before", () => {
    const limit = createWriteLimit(() => 0);
    for (let write = 0; write < 5; write++) limit.count("ann");
    expect(() => limit.check("bob", 1)).not.toThrow();
    expect(() => limit.check("ann", 6)).not.toThrow();
    expect(() => limit.check("ann", 2)).toThrow();
  });
});
