import type * as z from "zod";
import { ANSWER_OPTIONS } from "./answer-options.ts";
import { GITLAB_OPTIONS } from "./gitlab-options.ts";
import { HTTP_OPTIONS } from "./http-options.ts";
import { NETWORK_OPTIONS } from "./network-options.ts";
import { POLICY_OPTIONS } from "./policy-options.ts";
import { SAFETY_OPTIONS } from "./safety-options.ts";
import { SERVER_OPTIONS } from "./server-options.ts";
import { TOOL_OPTIONS } from "./tool-options.ts";
import { UPSTREAM_OPTIONS } from "./upstream-options.ts";

/** THE table, one file a group: flag, environment, help, README, reference and types come from it, in this order. */
export const OPTIONS = {
  ...GITLAB_OPTIONS,
  ...NETWORK_OPTIONS,
  ...TOOL_OPTIONS,
  ...POLICY_OPTIONS,
  ...SAFETY_OPTIONS,
  ...ANSWER_OPTIONS,
  ...UPSTREAM_OPTIONS,
  ...HTTP_OPTIONS,
  ...SERVER_OPTIONS,
} as const;

export type OptionName = keyof typeof OPTIONS;

/** All settings, parsed once and frozen. */
export type Settings = { readonly [K in OptionName]: z.output<(typeof OPTIONS)[K]["schema"]> };
