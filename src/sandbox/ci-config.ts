import type { Variable } from "./ci-state.ts";
import { parseYaml, type Yaml, YamlError } from "./ci-yaml.ts";

type YamlMap = { [key: string]: Yaml };

export interface JobConfig {
  readonly name: string;
  readonly stage: string;
  readonly script: readonly string[];
  readonly when: string;
  readonly allow_failure: boolean;
  readonly tags: readonly string[];
  /** Path of a child pipeline's file. */
  readonly trigger: string | null;
  readonly depend: boolean;
  readonly rules: readonly YamlMap[];
  readonly resource_group: string | null;
  readonly artifacts: readonly string[];
  readonly environment: string | null;
}

export interface CiConfig {
  readonly stages: readonly string[];
  readonly jobs: readonly JobConfig[];
  readonly errors: readonly string[];
  readonly warnings: readonly string[];
  readonly name: string | null;
}

const KEYWORDS = [
  "default",
  "include",
  "stages",
  "variables",
  "workflow",
  "image",
  "services",
  "before_script",
  "after_script",
  "cache",
  "spec",
  "pages:",
];
const DEFAULT_STAGES = ["build", "test", "deploy"];

const isMap = (value: Yaml | undefined): value is YamlMap => typeof value === "object" && value !== null && !Array.isArray(value);
const list = (value: Yaml | undefined): Yaml[] => (value === undefined || value === null ? [] : Array.isArray(value) ? value : [value]);
const strings = (value: Yaml | undefined): string[] =>
  list(value).flatMap((item) => (Array.isArray(item) ? item.map(String) : [String(item)]));

function triggerFile(value: Yaml | undefined): string | null {
  if (!isMap(value)) return typeof value === "string" ? value : null;
  const first = list(value.include)[0];
  return isMap(first) ? String(first.local ?? first.project ?? "") : first === undefined ? String(value.project ?? "") : String(first);
}

/** A job with what it inherits by `extends`. */
function inherited(document: YamlMap, value: YamlMap, depth = 0): YamlMap {
  const parents =
    depth > 10
      ? []
      : strings(value.extends).flatMap((name) => (isMap(document[name]) ? [inherited(document, document[name], depth + 1)] : []));
  return Object.assign({}, ...parents, value) as YamlMap;
}

function jobOf(name: string, value: YamlMap): JobConfig {
  const when = String(value.when ?? "on_success");
  return {
    name,
    stage: String(value.stage ?? "test"),
    script: strings(value.script),
    when,
    allow_failure: value.allow_failure === undefined ? when === "manual" : value.allow_failure === true || isMap(value.allow_failure),
    tags: strings(value.tags),
    trigger: value.trigger === undefined ? null : triggerFile(value.trigger),
    depend: isMap(value.trigger) && value.trigger.strategy === "depend",
    rules: list(value.rules).filter(isMap),
    resource_group: value.resource_group === undefined ? null : String(value.resource_group),
    artifacts: isMap(value.artifacts) ? strings(value.artifacts.paths) : [],
    environment: isMap(value.environment)
      ? String(value.environment.name)
      : value.environment === undefined
        ? null
        : String(value.environment),
  };
}

function jobErrors(name: string, value: Yaml, job: JobConfig | undefined, stages: readonly string[], names: readonly string[]): string[] {
  if (!isMap(value) || !job) return [`jobs:${name} config should be a hash`];
  const errors: string[] = [];
  if (value.script === undefined && value.trigger === undefined && value.run === undefined) {
    errors.push(`jobs:${name} config should implement the script:, run:, or trigger: keyword`);
  }
  if (value.script !== undefined && list(value.script).some((item) => isMap(item))) {
    errors.push(`jobs:${name}:script config should be a string or a nested array of strings up to 10 levels deep`);
  }
  if (!stages.includes(job.stage))
    errors.push(`${name} job: chosen stage ${job.stage} does not exist; available stages are ${stages.join(", ")}`);
  for (const need of list(value.needs)) {
    const other = isMap(need) ? String(need.job ?? "") : String(need);
    if (other && !names.includes(other)) errors.push(`${name} job: undefined need: ${other}`);
  }
  for (const parent of strings(value.extends))
    if (!names.includes(parent) && !parent.startsWith(".")) errors.push(`${name}: unknown keys in \`extends\` (${parent})`);
  return errors;
}

const broken = (message: string): CiConfig => ({ stages: [], jobs: [], errors: [message], warnings: [], name: null });

/** Reads a pipeline file. Whatever is wrong with it is in `errors`, in GitLab's words. */
export function readConfig(content: string): CiConfig {
  let document: Yaml;
  try {
    document = parseYaml(content);
  } catch (error) {
    if (error instanceof YamlError) return broken(error.message);
    throw error;
  }
  if (content.trim() === "") return broken("Please provide content of .gitlab-ci.yml");
  if (!isMap(document)) return broken("Invalid configuration format");
  const stages = [".pre", ...(document.stages === undefined ? DEFAULT_STAGES : strings(document.stages)), ".post"];
  const names = Object.keys(document).filter((key) => !KEYWORDS.includes(key));
  const visible = names.filter((name) => !name.startsWith("."));
  if (visible.length === 0) return { ...broken("jobs config should contain at least one visible job"), stages };
  const jobs: JobConfig[] = [];
  const errors: string[] = [];
  for (const name of visible) {
    const own = document[name] ?? null;
    const value = isMap(own) ? inherited(document, own) : own;
    const job = isMap(value) ? jobOf(name, value) : undefined;
    errors.push(...jobErrors(name, value, job, stages, names));
    if (job) jobs.push(job);
  }
  const workflow = isMap(document.workflow) ? document.workflow.name : undefined;
  return { stages, jobs, errors, warnings: [], name: workflow === undefined ? null : String(workflow) };
}

function operand(text: string, values: ReadonlyMap<string, string>): string | undefined {
  const word = text.trim();
  const variable = /^\$\{?(\w+)\}?$/.exec(word);
  if (variable) return values.get(variable[1] ?? "");
  return word === "null" ? undefined : word.replace(/^["']|["']$/g, "");
}

function comparison(text: string, values: ReadonlyMap<string, string>): boolean {
  const [, left = "", sign, right = ""] = /^(.+?)\s*(==|!=|=~|!~)\s*(.+)$/s.exec(text.trim()) ?? [];
  if (!sign) return Boolean(operand(text, values));
  const value = operand(left, values);
  if (sign === "==" || sign === "!=") return (value === operand(right, values)) === (sign === "==");
  const [, source = "", flags = ""] = /^\/(.*)\/([a-z]*)$/s.exec(right.trim()) ?? [];
  return new RegExp(source, flags.includes("i") ? "i" : "").test(value ?? "") === (sign === "=~");
}

/** `if` of a rule: comparisons joined by `&&` and `||`. */
export function condition(text: string, values: ReadonlyMap<string, string>): boolean {
  return text.split("||").some((part) => part.split("&&").every((one) => comparison(one, values)));
}

/** Whether a job belongs to this pipeline, and when it runs; nothing where a rule keeps it out. */
export function placed(job: JobConfig, values: ReadonlyMap<string, string>): { when: string; allow_failure: boolean } | undefined {
  if (job.rules.length === 0) return { when: job.when, allow_failure: job.allow_failure };
  const rule = job.rules.find((row) => row.if === undefined || condition(String(row.if), values));
  if (!rule) return undefined;
  const when = String(rule.when ?? job.when);
  if (when === "never") return undefined;
  return { when, allow_failure: rule.allow_failure === undefined ? job.allow_failure : rule.allow_failure === true };
}

export interface RefFacts {
  readonly ref: string;
  readonly tag: boolean;
  readonly sha: string;
  readonly source: string;
  readonly defaultBranch: string | null;
}

/** Predefined variables that rules ask for, with those that were given. */
export function variablesOf(facts: RefFacts, given: readonly Variable[]): Map<string, string> {
  return new Map([
    ["CI", "true"],
    ["CI_COMMIT_REF_NAME", facts.ref],
    ...(facts.tag
      ? [["CI_COMMIT_TAG", facts.ref] as const]
      : facts.source === "merge_request_event"
        ? []
        : [["CI_COMMIT_BRANCH", facts.ref] as const]),
    ...(facts.defaultBranch ? [["CI_DEFAULT_BRANCH", facts.defaultBranch] as const] : []),
    ["CI_COMMIT_SHA", facts.sha],
    ["CI_COMMIT_SHORT_SHA", facts.sha.slice(0, 8)],
    ["CI_PIPELINE_SOURCE", facts.source],
    ...given.map(({ key, value }) => [key, value] as const),
  ]);
}
