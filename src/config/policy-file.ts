import * as z from "zod";
import { nearest } from "../nearest.ts";
import { SettingsError } from "./fault.ts";
import { patterns } from "./values.ts";
import { parseDocument } from "./yaml.ts";

const names = (about: string) => z.array(z.union([z.string().min(1), z.number().int().positive()]).transform(String)).describe(about);

/** What a policy file may say. Every key narrows; what would allow more is no value of it. */
const FILE = z.strictObject({
  read_only: z
    .union([z.literal(true), z.array(z.string().min(1)).min(1)])
    .describe("true: only reads. Names of toolsets: only reads in these"),
  safe_mode: z.literal(true).describe("Writes answer with a preview and send nothing"),
  allow_toolsets: names("Only these toolsets may ever be used"),
  allow_tools: names("Only these actions may ever be used (beside allow_toolsets): ids, tool names, patterns with *"),
  exclude_tools: names("Never these: ids, tool names, patterns with *, toolset:NAME"),
  deny_regex: patterns.unwrap().describe("Never actions whose id or tool name one of these regular expressions finds"),
  allow_projects: names("Only these projects can be reached: full paths or ids"),
  allow_groups: names("Only these groups and everything below them can be reached: full paths or ids"),
  admin: z.literal(false).describe("Actions for administrators stay hidden, whatever the flag says"),
  tier: z.enum(["free", "premium", "ultimate"]).describe("Withhold actions above this tier"),
  confirm: z.enum(["flag", "human"]).describe("How destructive actions are agreed to, at least"),
  reveal_secrets: z.enum(["never", "file"]).describe("How new secrets are handed over, at most"),
  max_writes_per_minute: z.number().int().min(1).max(10_000).describe("Writes that one user may make in any 60 seconds"),
});

const OPTIONAL = FILE.partial();

export type PolicyFile = Readonly<z.output<typeof OPTIONAL>>;

/** JSON Schema of a policy file, published with the docs. */
export function policySchema(): Readonly<Record<string, unknown>> {
  const { $schema, ...rest } = z.toJSONSchema(OPTIONAL, { io: "input" });
  return { $schema, title: "Policy file (--policy)", ...rest };
}

function faultOf({ issues }: z.ZodError): string {
  const issue = issues[0];
  if (issue?.code === "unrecognized_keys") {
    const name = issue.keys[0] ?? "";
    const near = nearest(name, Object.keys(FILE.shape), 1)[0];
    return `${name.slice(0, 60)} is not a key${near ? `; the nearest is ${near}` : `; keys are ${Object.keys(FILE.shape).join(", ")}`}`;
  }
  return `${issue?.path.map(String).join(".") || "the file"}: ${issue?.message ?? "is not valid"}`;
}

/** @throws SettingsError in one line that names the file and what is wrong in it. */
export function parsePolicy(text: string, file: string): PolicyFile {
  const value = parseDocument(text, file) ?? {};
  const result = OPTIONAL.safeParse(value);
  if (!result.success) throw new SettingsError(`${file}: ${faultOf(result.error).replaceAll("\n", " ")}`);
  return Object.freeze(result.data);
}
