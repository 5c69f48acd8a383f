import * as z from "zod";
import { optionIn } from "./option.ts";
import { SECRET_OPTIONS } from "./secret-options.ts";
import { integer, onOff, onOffOrNames, text } from "./values.ts";

const option = optionIn("Safety");

/** How what may be used is kept from doing harm, and what is written down of it. */
export const SAFETY_OPTIONS = {
  readOnly: option({
    flag: "read-only",
    env: "GITLAB_BRIDGE_READ_ONLY",
    aliases: ["GITLAB_READ_ONLY", "GITLAB_READ_ONLY_MODE", "GITLAB_MCP_READ_ONLY"],
    kind: "switch",
    names: true,
    schema: onOffOrNames,
    about: "Only reads; everything else is withheld and cannot be sent. With names of toolsets: only reads in these",
    perRequest: true,
  }),
  safeMode: option({
    flag: "safe-mode",
    env: "GITLAB_BRIDGE_SAFE_MODE",
    aliases: ["GITLAB_SAFE_MODE", "GITLAB_MCP_SAFE_MODE"],
    kind: "switch",
    schema: onOff,
    about: "Writes answer with a preview and send nothing",
    perRequest: true,
  }),
  admin: option({
    flag: "admin",
    env: "GITLAB_BRIDGE_ADMIN",
    kind: "switch",
    schema: onOff,
    about: "Show actions for administrators even when the user is not known to be one",
  }),
  tier: option({
    flag: "tier",
    env: "GITLAB_BRIDGE_TIER",
    kind: "value",
    schema: z.enum(["free", "premium", "ultimate"]).optional(),
    about: "Withhold actions above this tier; without it a tier only explains a failure",
  }),
  confirm: option({
    flag: "confirm",
    env: "GITLAB_BRIDGE_CONFIRM",
    kind: "value",
    schema: z.enum(["flag", "human", "off"]).default("flag"),
    about: "Destructive actions: flag = confirm: true or ask; human = always ask the person; off = run",
    onHttp: "human",
    translated: [
      { env: "YOLO_MODE", on: "off", stdioOnly: true },
      { env: "AUTOPILOT", on: "off", stdioOnly: true },
    ],
  }),
  ...SECRET_OPTIONS,
  maxWrites: option({
    flag: "max-writes-per-minute",
    env: "GITLAB_BRIDGE_MAX_WRITES_PER_MINUTE",
    kind: "value",
    schema: integer(30, 1, 10_000),
    about: "Writes that one user may make in any 60 seconds; the next is refused with the time to wait",
    perRequest: true,
  }),
  audit: option({
    flag: "audit",
    env: "GITLAB_BRIDGE_AUDIT",
    kind: "value",
    schema: text,
    about: "File (or stderr) for one JSON line per action that ran or was refused; no contents",
    example: "stderr",
  }),
  auditIdentity: option({
    flag: "audit-identity",
    env: "GITLAB_BRIDGE_AUDIT_IDENTITY",
    kind: "value",
    schema: z.enum(["name", "hash"]).default("name"),
    about: "How the user stands in the audit: id and name, or a hash of them",
  }),
  refusalContact: option({
    flag: "refusal-contact",
    env: "GITLAB_BRIDGE_REFUSAL_CONTACT",
    kind: "value",
    schema: z.string().min(1, "is empty").max(200, "is longer than 200 characters").optional(),
    about: "Whom a refused user should ask; shown in refusals",
    example: "the platform team",
  }),
} as const;
