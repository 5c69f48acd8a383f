import type { Settings } from "../config/options.ts";

/** What an action does to GitLab's data. */
export type Effect = "read" | "write" | "destructive";

/** `offset`: page numbers. `keyset`: only the `Link` header leads on. */
export type Paging = "none" | "offset" | "keyset";

export type Tier = "free" | "premium" | "ultimate" | "unknown";

/** HTTP method and path template (`/projects/{project_id}/issues`), relative to `/api/v4`. */
export type Route = readonly [method: "GET" | "POST" | "PUT" | "PATCH" | "DELETE", path: string];

export type JsonType = "string" | "integer" | "number" | "boolean" | "array" | "object";

/** The shape of a value inside a parameter. */
export interface Shape {
  readonly type: JsonType;
  readonly enum?: readonly string[];
  readonly items?: Shape;
  readonly properties?: Readonly<Record<string, Shape>>;
  readonly required?: boolean;
  readonly about?: string;
  readonly format?: string;
  /** Sent comma-joined instead of `name[]=`. */
  readonly csv?: boolean;
  /** Shown in listed, found and enabled schemas beside the required ones. */
  readonly common?: boolean;
}

/** One parameter of an action, as data. */
export interface Param extends Shape {
  readonly in: "path" | "query" | "body";
  /** The name on the wire where it differs from ours; in GraphQL rows the place in the variables, with dots (`input.weightWidget.weight`). */
  readonly wire?: string;
  /** GraphQL rows: type of the global id that a plain id is sent as (`WorkItem` → `gid://gitlab/WorkItem/123`). */
  readonly gid?: string;
  /** Scope ids (or `none`) of the routes that know the parameter; absent = all routes. */
  readonly on?: readonly string[];
  readonly deprecated?: boolean;
}

/** One action as it stands in `data/<toolset>.json` (DESIGN.md §15). Exactly one of `http`, `graphql`, `composite` is there. */
export interface ActionRow {
  readonly id: string;
  readonly tool: string;
  readonly title: string;
  readonly about: string;
  readonly http?: Route;
  /** Twins of `http` under other scopes, chosen by which scope ids are given. */
  readonly routes?: readonly Route[];
  readonly graphql?: string;
  /** Twins of `graphql` for calls that name the thing otherwise, by the param that chooses them. */
  readonly documents?: Readonly<Record<string, string>>;
  /** Name of a composite function of the executor. */
  readonly composite?: string;
  readonly effect: Effect;
  readonly essential?: boolean;
  readonly admin?: boolean;
  readonly tier?: Tier;
  readonly paging?: Paging;
  /** What GitLab answers; `object` where absent. */
  readonly returns?: "object" | "array" | "text" | "binary" | "none" | "unknown";
  /** GitLab's entity name of the answer, e.g. `APIEntitiesIssue`. */
  readonly entity?: string;
  readonly params: Readonly<Record<string, Param>>;
  readonly aliases?: readonly string[];
  readonly keywords?: readonly string[];
  /** Ids that people use after this one. */
  readonly next?: readonly string[];
  /** Creates or rotates a secret; its result is delivered only as `--reveal-secrets` allows. */
  readonly secret?: boolean;
  /** First GitLab version that has it, e.g. `18.9`; by scope id where only some of its routes are newer than the rest. */
  readonly since?: string | Readonly<Record<string, string>>;
}

/**
 * What a preview must be told of a call, where neither its path nor its name says it (`data/before.json`): how the thing that it
 * changes is read, and what it sets on it beside its own params.
 */
export interface Before {
  /** Id of the row that reads the thing. */
  readonly action?: string;
  /** Params of that read that the call does not have by the same name: a value, or `{param}` of the call. */
  readonly with?: Readonly<Record<string, unknown>>;
  /** Field of the answer that holds the list which the thing stands in. */
  readonly in?: string;
  /** The field that tells it from the others of its list, and the param of the call that names it. */
  readonly find?: readonly [field: string, param: string];
  /** Field of the thing (dots lead inward) → what it becomes: a value, a param (`{param}`), a list with it (`+{param}`) or without it (`-{param}`). */
  readonly sets?: Readonly<Record<string, unknown>>;
  /** Params that are called like a field and mean something else: what must be so for the call to be done, or parts to be worked in. */
  readonly skips?: readonly string[];
}

export type JsonSchema = { readonly [key: string]: unknown };

/** An action in the registry: a row (or an upstream's tool) with its toolset and its source. */
export interface Action extends ActionRow {
  readonly toolset: string;
  /** Name of the source that runs it: `gitlab`, or an upstream's name. */
  readonly source: string;
  /** An upstream's own input schema, relayed as it is. Rows have none: theirs is made from `params`. */
  readonly schema?: JsonSchema;
  /** What else our list keeps of an upstream's own definition of its tool. */
  readonly listed?: {
    readonly annotations: Readonly<Record<string, unknown>>;
    readonly icons?: readonly unknown[];
    readonly meta: Readonly<Record<string, unknown>>;
  };
  /** Our own action that does the same. */
  readonly same?: string;
}

export interface ToolsetRow {
  readonly name: string;
  readonly title: string;
  readonly about: string;
  readonly aliases?: readonly string[];
  /** On when `default` is asked for (GitLab's own default set). */
  readonly default?: boolean;
  /** What is wrong with the source behind it now. */
  readonly note?: string;
}

/** GitLab instance + user; no user = the anonymous one (or not yet known). */
export interface Principal {
  readonly instance: string;
  readonly user?: { readonly id: number; readonly username: string };
}

/** What was learned about token and instance. Unknown = absent: nothing is refused for an unknown fact. */
export interface Facts {
  readonly user?: { readonly id: number; readonly username: string; readonly name?: string; readonly admin?: boolean };
  readonly scopes?: readonly string[];
  /** Id of the token in use; null = GitLab has none for it (an OAuth token, a job's token). */
  readonly token?: number | null;
  /** Digest of the token in use, to know it again. */
  readonly digest?: string;
  readonly expires_at?: string | null;
  readonly version?: string;
  readonly enterprise?: boolean;
  readonly tier?: Tier;
  /** GitLab does not take the caller's token. */
  readonly refused?: boolean;
}

export interface Progress {
  readonly progress: number;
  readonly total?: number;
  readonly message?: string;
}

/** The projects and groups that one call may reach. */
export interface CallScope {
  /** @throws BridgeError not_permitted when a request to this path must not leave. */
  admit(template: string, path: string): Promise<void>;
  /** @throws BridgeError not_permitted when the answer from an address leads on to this one, which must not be followed. */
  lead(url: URL, from: URL): Promise<void>;
  /** The rows that may be shown, and whether some were or could have been left out. */
  keep(items: readonly unknown[]): Promise<{ readonly items: readonly unknown[]; readonly filtered: boolean }>;
  /**
   * One answer without the parts that belong elsewhere, and whether there were any.
   * @throws BridgeError not_permitted when the whole of what was read belongs elsewhere.
   */
  part(value: unknown, effect: Effect): Promise<{ readonly value: unknown; readonly cut: boolean }>;
}

/** Everything that a run knows about its caller. Made per call by the surface, handed down unchanged. */
export interface CallContext {
  readonly principal: Principal;
  readonly signal: AbortSignal;
  readonly progress?: (progress: Progress) => void;
  /** The client can be asked a question during this call (elicitation). */
  readonly canAsk: boolean;
  /** The user's answer to an earlier `needs_input` of this same call, already verified by the surface. */
  readonly answer?: Answer;
  /** The caller's own credential; absent = the server's. */
  readonly credential?: Credential;
  /** What this client limits beyond the server's own settings: the last check before the wire holds it too. */
  readonly limits?: Pick<Settings, "readOnly" | "safeMode" | "revealSecrets">;
  /** Where this call may go, where projects or groups are limited; set by the road. */
  readonly scope?: CallScope;
  readonly meta: Readonly<Record<string, unknown>>;
  /** Whose connection it is: what a source keeps for one client is kept under this. */
  readonly session?: string;
  /** Puts an upstream's own question to the user while the call runs, where this client can be asked like that. */
  readonly elicit?: (params: Readonly<Record<string, unknown>>) => Promise<Readonly<Record<string, unknown>> & { readonly action: string }>;
  /** A header of the caller's HTTP request. */
  readonly header?: (name: string) => string | undefined;
  /** Client name for `User-Agent`. */
  readonly client?: string;
  /** The connection's current project (full path), if any. */
  readonly project?: string;
}

export interface Credential {
  readonly header: "PRIVATE-TOKEN" | "Authorization" | "JOB-TOKEN";
  readonly value: string;
}

export interface Answer {
  readonly accepted: boolean;
  /** What the question was about: a digest of action, params and principal. */
  readonly binding: string;
}

/** How much of the answer is wanted (the reserved arguments of DESIGN.md §3). */
export interface Wanted {
  readonly select?: readonly string[];
  readonly full?: boolean;
  readonly cursor?: string;
  readonly limit?: number;
  /** GitLab's own page number, where a caller gave one instead of a cursor. */
  readonly page?: number;
  readonly all?: boolean;
  /** Name of the file in the operator's directory that a download goes to, and whether it may replace one. */
  readonly save_as?: string;
  readonly overwrite?: boolean;
  /** Tokens that this answer may have; otherwise the setting says. */
  readonly budget?: number;
  /** Of a text: how many lines of its end or start, the lines that fit (with neighbours), a range, only the telling ones. */
  readonly tail?: number;
  readonly head?: number;
  readonly grep?: string;
  readonly context?: number;
  readonly lines?: string;
  readonly errors?: boolean;
  /** A part of a composite, which chooses from it and fits the whole: not cut to one answer's budget. Never set by a caller. */
  readonly part?: boolean;
}

/** One run, after every check: `params` are canonical and validated. */
export interface Call {
  readonly action: Action;
  readonly route?: Route;
  readonly params: Readonly<Record<string, unknown>>;
  readonly wanted: Wanted;
  /** Runs another action through the whole road again (composites, batch): policy holds for it as for any call. */
  readonly run: (id: string, params: Readonly<Record<string, unknown>>, signal?: AbortSignal) => Promise<Outcome>;
}

export interface Page {
  /** Opaque cursor of the next page. */
  readonly next?: string;
  readonly total?: number;
}

export interface OutcomeNotes {
  /** Full path or id of the project that was used, where one was. */
  readonly project?: string;
  /** Rows of what this caller may not reach were left out: how that is told. */
  readonly filtered?: string;
  /** Names of reserved `omitted` fields count, told to the reader. */
  readonly omitted?: number;
  readonly truncated?: string;
  /** Things GitLab did beside what was asked, e.g. `labels_created`. */
  readonly did?: Readonly<Record<string, unknown>>;
  /** Text in it was written by others: to be framed as untrusted. */
  readonly untrusted?: boolean;
  /** What is sensible now, one short sentence. */
  readonly hint?: string;
  /** The call that it came from, as it was understood. */
  readonly of?: { readonly action: string; readonly params: Readonly<Record<string, unknown>> };
}

export interface Question {
  readonly message: string;
  /** Digest of action, params and principal that the answer is good for. */
  readonly binding: string;
}

/** What a run gives back. A failure is a thrown `BridgeError`. */
export type Outcome =
  | ({ readonly kind: "value"; readonly value: Readonly<Record<string, unknown>> } & OutcomeNotes)
  | ({ readonly kind: "list"; readonly items: readonly unknown[]; readonly page: Page } & OutcomeNotes)
  | ({
      readonly kind: "text";
      readonly text: string;
      readonly value?: Readonly<Record<string, unknown>>;
      readonly page?: Page;
    } & OutcomeNotes)
  | ({
      readonly kind: "binary";
      readonly base64: string;
      readonly mime: string;
      readonly name?: string;
      readonly bytes: number;
    } & OutcomeNotes)
  | { readonly kind: "preview"; readonly preview: Readonly<Record<string, unknown>> }
  | { readonly kind: "needs_input"; readonly question: Question }
  /** An upstream's own result, passed on whole. */
  | { readonly kind: "relayed"; readonly result: Readonly<Record<string, unknown>> };

/** Where toolsets come from and how an action runs. */
export interface Source {
  readonly name: string;
  toolsets(): readonly ToolsetRow[];
  actions(): readonly Action[];
  run(call: Call, context: CallContext): Promise<Outcome>;
  /** What a write would send, for safe mode; secrets masked, nothing sent. */
  preview(call: Call, context: CallContext): Promise<Readonly<Record<string, unknown>>>;
  /** Called whenever toolsets or actions became others. */
  watch?(changed: () => void): void;
  /** Whether it may hold a toolset or action of this name once it was asked: a setting that names it is not a mistake. */
  mayHold?(name: string): boolean;
  close?(): Promise<void>;
}
