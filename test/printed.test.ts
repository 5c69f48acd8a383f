import { describe, expect, it } from "vitest";
import { secretsIn, secretsOfSeeds } from "./support/printed.ts";

describe("the search through everything that the end-to-end tests printed", () => {
  it("knows the secrets of the seeds", () => {
    expect(secretsOfSeeds().length).toBeGreaterThan(10);
    for (const secret of ["sandbox-token-maria", "sandbox-job-token", "sandbox-registry-password", "release-bot"])
      expect(secretsOfSeeds()).toContain(secret);
  });

  it("bites on each of them, wherever it stands, and on what the sandbox makes up", () => {
    for (const secret of secretsOfSeeds())
      for (const text of [secret, `debug: GET /x private-token: ${secret}\n`, JSON.stringify({ token: secret }), `[${secret}]`])
        expect(secretsIn(text), text).not.toEqual([]);
    expect(secretsIn('{"token":"sandbox-secret-12"}')).toHaveLength(1);
  });

  it("lets the rest pass: masks, names of seeds, a rotated token", () => {
    for (const text of ["sandbox-token-[masked]", "[masked]", "sandbox", "sandbox-token-maria-r31", "sandbox-token-project-deploy-r7"])
      expect(secretsIn(text), text).toEqual([]);
  });
});
