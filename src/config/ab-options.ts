import * as z from "zod";
import { nearest } from "../nearest.ts";
import { optionIn } from "./option.ts";
import { STYLES, text } from "./values.ts";

const option = optionIn("What is on");

/** One style of a live comparison, and how much of all people get it. */
export interface Share {
  readonly style: (typeof STYLES)[number];
  readonly weight: number;
}

const MOST = 1_000_000;
const styleIn = (word: string) => STYLES.find((style) => style === word.toLowerCase());

/** The same words with every slip mended, as far as one can be guessed. */
function mended(parts: readonly string[]): string {
  const shares = parts.map((part) => {
    const [name = "", weight = ""] = part.split("=");
    return `${styleIn(name) ?? nearest(name, STYLES, 1)[0] ?? STYLES[0]}=${/^\d+$/.test(weight) && Number(weight) <= MOST ? weight : 50}`;
  });
  const names = shares.map((share) => share.split("=")[0]);
  const once = shares.filter((_, index) => names.indexOf(names[index]) === index);
  const isGood = once.length >= 2 && once.some((share) => !share.endsWith("=0"));
  return `style:${isGood ? once.join(",") : "bridge=50,dynamic=50"}`;
}

function faultOf(prefixed: boolean, parts: readonly string[]): string | undefined {
  const pairs = parts.map((part) => part.split("="));
  if (!prefixed) return "must begin with style:";
  for (const [name = "", weight = "", ...rest] of pairs) {
    if (!styleIn(name)) return `names no style with "${name.slice(0, 20)}" (${STYLES.join(", ")})`;
    if (rest.length > 0 || !/^\d+$/.test(weight) || Number(weight) > MOST)
      return `needs a whole number from 0 to ${MOST} for ${name}, as its weight`;
  }
  if (new Set(pairs.map(([name = ""]) => styleIn(name))).size < pairs.length) return "names a style twice";
  if (parts.length < 2) return "needs two styles or more to compare";
  return pairs.every(([, weight]) => Number(weight) === 0) ? "gives every style the weight 0" : undefined;
}

const shares = z
  .string()
  .transform((said, context): readonly Share[] => {
    const [, prefix = "", rest = said] = /^(style:)(.*)$/s.exec(said) ?? [];
    const parts = rest
      .split(",")
      .map((part) => part.replace(/\s/g, ""))
      .filter((part) => part !== "");
    const fault = faultOf(prefix !== "", parts);
    if (fault === undefined) {
      return parts.flatMap((part) => {
        const [name = "", weight] = part.split("=");
        const style = styleIn(name);
        return style ? [{ style, weight: Number(weight) }] : [];
      });
    }
    context.addIssue({ code: "custom", message: `${fault}; the nearest is ${mended(parts)}` });
    return z.NEVER;
  })
  .optional();

/** The live comparison of styles: who gets which, and where it is written down. */
export const AB_OPTIONS = {
  ab: option({
    flag: "ab",
    env: "GITLAB_BRIDGE_AB",
    kind: "value",
    schema: shares,
    about:
      "Compare styles live: each GitLab user always gets the same one, drawn by weight. Who chooses a style, or is unknown, is left out",
    example: "style:bridge=50,dynamic=30,static=20",
  }),
  abLog: option({
    flag: "ab-log",
    env: "GITLAB_BRIDGE_AB_LOG",
    kind: "value",
    schema: text,
    about: "With --ab: file (or stderr) for one JSON line per assignment, list and call; sizes and times, no contents, users as hashes",
    example: "/var/log/gitlab-bridge/ab.jsonl",
  }),
  abSalt: option({
    flag: "ab-salt",
    env: "GITLAB_BRIDGE_AB_SALT",
    kind: "value",
    schema: z
      .string()
      .regex(/^[\x21-\x7e]{16,}$/, "must be at least 16 visible characters")
      .optional(),
    about: "With --ab: secret that keys who gets which style and the hashes in --ab-log; without it --session-key does",
    secret: true,
    example: "the output of: openssl rand -hex 32",
  }),
} as const;
