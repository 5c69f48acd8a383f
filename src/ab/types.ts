/** Any JSON object. */
export type Json = Record<string, unknown>;

/** The seeded people whose token a task or a check uses. */
export type Who = "root" | "maria" | "jonas" | "reader";

/** By the calls of the shortest path, discovery not counted: one, 2–4, 5–10. */
export type Size = "small" | "medium" | "large";

/**
 * One call on the shortest path. A string `{name}` in the params stands for what an earlier step kept; `{name}` inside a longer string
 * is put into it.
 */
export interface Step {
  /** Id of an action. */
  readonly action: string;
  readonly params: Readonly<Json>;
  /**
   * Name → path into this step's structured result: `items.0.iid`, `items[title=Nightly run].id` (the first such),
   * `items[*].name` (of all).
   */
  readonly keep?: Readonly<Record<string, string>>;
}

/** One request that changes the seeds before a task starts; sent to the sandbox itself, never through an arm. */
export interface Seed {
  readonly method: "POST" | "PUT" | "DELETE";
  /** Below `/api/v4`. */
  readonly path: string;
  readonly body?: Readonly<Json>;
  /** `root` where absent. */
  readonly as?: Who;
}

/** What must be true of one GET of the sandbox afterwards; every field that is given must hold. */
export interface Check {
  /** Below `/api/v4`. */
  readonly get: string;
  /** `root` where absent. */
  readonly as?: Who;
  /** Path into the reply (`0.labels`, `[name=main].protected`), read as in `Step.keep`; the whole reply where absent. */
  readonly at?: string;
  /** HTTP status; 200 where absent. */
  readonly status?: number;
  /** Equal to this, deeply. */
  readonly is?: unknown;
  /**
   * Contains this: the fields of an object, the members of a list (each matched by some member), a part of a string;
   * strings within objects and lists are equal.
   */
  readonly has?: unknown;
  /** Must not contain this, by the same reading; of several members not a single one. */
  readonly lacks?: unknown;
  /** A regular expression that the string matches. */
  readonly matches?: string;
  /** Members of the list. */
  readonly count?: number;
}

/** One task, as data: `fixtures/ab/tasks/*.json`. */
export interface Task {
  readonly id: string;
  readonly size: Size;
  /** Toolsets that the shortest path needs. */
  readonly toolsets: readonly string[];
  /** Whose token the arm has; `maria` where absent. */
  readonly as?: Who;
  /** What a person would write. Names no tool and no parameter. */
  readonly prompt: string;
  readonly seeds?: readonly Seed[];
  /** The shortest honest path. */
  readonly path: readonly Step[];
  /** State of the sandbox afterwards. */
  readonly after?: readonly Check[];
  /** GETs whose replies must be the same before and after. */
  readonly unchanged?: readonly string[];
  /** Regular expressions (flag `i`) that the final answer must match, or must not, where the task asks a question. */
  readonly answer?: { readonly all: readonly string[]; readonly none?: readonly string[] };
  /** Where the task asks a question, a template of the ideal answer made from what the steps kept. */
  readonly ideal?: string;
}

/** One discovery style or server under test: a command line that speaks MCP over stdio. */
export interface Arm {
  readonly name: string;
  /** Program and arguments. */
  readonly command: readonly string[];
  /** `{API}`, `{URL}` and `{TOKEN}` stand for the sandbox's API address, its address and the task's token. */
  readonly env: Readonly<Record<string, string>>;
  readonly about: string;
  /** Set where the arm is this bridge: the scripted driver computes the shortest path of the style. */
  readonly style?: string;
  /** Changes of a name or a call that the scripted driver must know: prefix, split execute. */
  readonly prefix?: string;
  /** A server that cannot do a writing task by its own settings (read-only, safe mode): success then means that nothing changed. */
  readonly writes?: "yes" | "preview" | "no";
}

/** When a host asks for the list again after it was told that it changed. */
export type Refresh = "at_once" | "next_turn" | "never";

export interface ListedTool {
  readonly name: string;
  readonly title?: string;
  readonly description?: string;
  readonly inputSchema: Readonly<Json>;
  readonly annotations?: Readonly<Json>;
}

/** What a model sees of one result. */
export interface Seen {
  readonly isError: boolean;
  /** What the host puts into the history: the text, or the JSON where there is no text. */
  readonly text: string;
  readonly json?: Readonly<Json>;
}

/** Tokens as a model's API counted them. */
export interface Usage {
  readonly prompt: number;
  /** Of `prompt`, what the API read from its cache. */
  readonly cached: number;
  readonly completion: number;
}

/** What a driver knows about a call beside its name and arguments; a driver without a model knows nothing. */
export interface Beside {
  /** Of the reply that asked for this call, and of replies before it that led to no call; given once per reply. */
  readonly usage?: Usage;
  /** The call stood in the same reply as the one before it: nothing was sent again in between. */
  readonly sameReply?: boolean;
}

/** A model's host: what it shows each turn, and what each turn costs. */
export interface Host {
  /** The tools that the model sees this turn. */
  readonly tools: readonly ListedTool[];
  readonly instructions?: string;
  /** Ends a turn: one call, with what the model said beside it. */
  call(name: string, args: Readonly<Json>, said?: string, beside?: Beside): Promise<Seen>;
  /** Ends the last turn: what the user reads. */
  answer(text: string, beside?: Beside): void;
}

/** One turn as it happened. Tokens are what a host sends or a model writes. */
export interface Turn {
  /** Tokens of list, instructions and history that were sent. */
  readonly prompt: number;
  /** Of these, how many a prompt cache would have had: the longest common beginning with the turn before, list first. */
  readonly cached: number;
  readonly completion: number;
  readonly tool?: string;
  readonly args?: Readonly<Json>;
  readonly said?: string;
  /** What came back, cut at 2,000 characters. */
  readonly seen?: string;
  readonly isError?: boolean;
  /** Milliseconds of the call. */
  readonly ms?: number;
  /** Tools on the list in this turn. */
  readonly listed: number;
  /** As the model's API counted, beside our own counts. */
  readonly usage?: Usage;
}

/** One run of one task under one arm: one JSON line in `runs.jsonl`. */
export interface Run {
  readonly task: string;
  readonly size: Size;
  readonly toolsets: readonly string[];
  readonly arm: string;
  readonly driver: string;
  readonly refresh: Refresh;
  /** From 0. */
  readonly repeat: number;
  readonly seed: number;
  readonly success: boolean;
  /** What the judge found wrong; empty on success. */
  readonly faults: readonly string[];
  /** Why the run broke off, where it did. */
  readonly error?: string;
  /** It broke off since the driver's path does not lead through this server: no failure of the arm, and no success. */
  readonly no_path?: true;
  readonly first_list: number;
  /** Summed over the turns, as sent each turn. */
  readonly prompt: number;
  /** Of `prompt`, what a prompt cache would have had. */
  readonly cached: number;
  readonly completion: number;
  readonly calls: number;
  readonly failed_calls: number;
  /** Calls that only looked for tools. */
  readonly discovery_calls: number;
  readonly ms: number;
  /** Toolsets that were enabled during the run. */
  readonly enabled: readonly string[];
  /** Which counter counted tokens. */
  readonly counter: "o200k_base" | "estimate";
  /** Summed over the turns, where the model's API counted. */
  readonly usage?: Usage;
  readonly turns: readonly Turn[];
}

/** Finishes a task through the host, or gives up; never looks at the sandbox. */
export interface Driver {
  readonly name: string;
  run(task: Task, host: Host, context: DriverContext): Promise<void>;
}

export interface DriverContext {
  readonly arm: Arm;
  readonly refresh: Refresh;
  readonly seed: number;
  readonly signal: AbortSignal;
  /** The most calls that a run may take. */
  readonly maxCalls: number;
}

/** What the judge needs of an embedded GitLab; handed in, since rooms on one floor do not know each other. */
export interface World {
  readonly url: string;
  readonly tokens: Readonly<Record<Who, string>>;
  /** Back to the seeds. */
  reset(): void;
  close(): Promise<void>;
}
