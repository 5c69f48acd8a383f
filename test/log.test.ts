import { expect, it } from "vitest";
import { createLog, maskAddress, maskForms } from "../src/log.ts";

const logOf = (level: "silent" | "warn" | "debug") => {
  const lines: string[] = [];
  return { log: createLog({ level, write: (line) => lines.push(line) }), lines };
};

it.each([
  ["silent", []],
  ["warn", ["error: e\n", "warn: w\n"]],
  ["debug", ["error: e\n", "warn: w\n", "info: i\n", "debug: d\n"]],
] as const)("%s writes its level and what is graver", (level, expected) => {
  const { log, lines } = logOf(level);
  log.error("e");
  log.warn("w");
  log.info("i");
  log.debug("d");
  expect(lines).toEqual(expected);
});

it("masks what it was told to hide, and leaves short words alone", () => {
  const { log, lines } = logOf("debug");
  log.hide("my-odd-secret");
  log.hide("a");
  log.debug("sent my-odd-secret as a token");
  expect(lines).toEqual(["debug: sent [masked] as a token\n"]);
});

it.each([
  ["token glpat-AbCdEf_12345", "AbCdEf"],
  ["Authorization: Bearer abc.def.ghi", "abc.def"],
  ["authorization: basic bWFyaWE6aHVudGVyMg==", "bWFyaWE"],
  ["a runner glrt-t3_AbCdEfGhIjKlMnOp", "AbCdEf"],
  ["registered with GR1348941AbCdEfGhIjKl", "AbCdEf"],
  ["gloas-0123456789abcdef, gldt-AbCdEf123456, glptt-AbCdEf123456, glagent-AbCdEf123456", "AbCdEf"],
  ["CI_JOB_JWT=eyJhbGciOiJSUzI1NiJ9.eyJpc3MiOiJnaXRsYWIifQ.c2lnbmF0dXJl", "eyJ"],
  ["key:\n-----BEGIN OPENSSH PRIVATE KEY-----\nb3BlbnNzaC1rZXk\n-----END OPENSSH PRIVATE KEY-----\nmore", "b3Blbn"],
  ['{"PRIVATE-TOKEN":"xyz123"}', "xyz123"],
  ["https://me:hunter22@proxy.test:8080", "hunter22"],
  ["GET /x?private_token=abcdef&a=1", "abcdef"],
])("masks %s by its form", (text, secret) => expect(maskForms(text)).not.toContain(secret));

it("masks in an address what is secret in it alone", () => {
  expect(maskAddress("https://me:hunter22@gitlab.test/a/b?x=1&private_token=abcdef")).toBe(
    "https://me:[masked]@gitlab.test/a/b?x=1&private_token=[masked]",
  );
  expect(maskAddress("https://s3.test/a?X-Amz-Signature=0123abc&X-Amz-Date=2")).toBe(
    "https://s3.test/a?X-Amz-Signature=[masked]&X-Amz-Date=2",
  );
});

it.each(["basic authentication", "the glorious-revolution", "https://gitlab.test/global-services/glass-workshop/-/issues/1"])(
  "leaves %s as it is",
  (text) => expect(maskForms(text)).toBe(text),
);

it("a secret that is held is masked until the last holder lets go, once each", () => {
  const lines: string[] = [];
  const log = createLog({ level: "info", write: (line) => lines.push(line) });
  const one = log.hold("somebodys-own-word");
  const other = log.hold("somebodys-own-word");
  one();
  one();
  expect(log.mask("it is somebodys-own-word")).not.toContain("somebodys");
  other();
  expect(log.mask("it is somebodys-own-word")).toContain("somebodys-own-word");
});
