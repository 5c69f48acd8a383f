import { policySchema } from "../config/policy-file.ts";
import { AUDIT_SCHEMA } from "../executor/audit.ts";
import { TRIAL_SCHEMA } from "../surface/trial-line.ts";

const toText = (schema: unknown) => `${JSON.stringify(schema, undefined, 2)}\n`;

/** JSON Schemas that are published with the docs: path → content. */
export function generateSchemas(): ReadonlyMap<string, string> {
  return new Map([
    ["docs/reference/policy.schema.json", toText(policySchema())],
    ["docs/reference/audit.schema.json", toText(AUDIT_SCHEMA)],
    ["docs/reference/ab-log.schema.json", toText(TRIAL_SCHEMA)],
  ]);
}
