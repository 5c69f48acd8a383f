import type * as z from "zod";

/** How a value stands on the command line: a bare switch, one value, or a comma list. */
export type OptionKind = "switch" | "value" | "list";

/** A name of another server whose values mean something else here. */
export interface Translated {
  readonly env: string;
  /** What a switch of that server asks of this option; absent = nothing. */
  readonly on?: string;
  readonly off?: string;
  /** On HTTP it stops the start: one person's choice may not hold for everybody. */
  readonly stdioOnly?: boolean;
}

export interface Option<S extends z.ZodType = z.ZodType> {
  readonly flag: string;
  readonly env: string;
  /** Names that people bring from other GitLab servers. */
  readonly aliases?: readonly string[];
  /** Switches of other servers that set this option; the weakest names of all. */
  readonly translated?: readonly Translated[];
  readonly kind: OptionKind;
  /** A switch that also takes names: on for these only. */
  readonly names?: boolean;
  /** A list whose entries may hold commas: one per flag, one per line of the environment. */
  readonly lines?: boolean;
  readonly schema: S;
  readonly about: string;
  readonly group: "GitLab" | "Network" | "What is on" | "What is allowed" | "Safety" | "Answers" | "Upstreams" | "HTTP" | "Server";
  /** Never printed, logged or shown. */
  readonly secret?: boolean;
  /** A connection may set it for itself, narrowing only. */
  readonly perRequest?: boolean;
  /** Default on HTTP, where it is another than on stdio. */
  readonly onHttp?: string;
  /** A good value, for help and for the message about a bad one. */
  readonly example?: string;
}

/** How the options of one group are written down. */
export const optionIn =
  (group: Option["group"]) =>
  <S extends z.ZodType>(definition: Omit<Option<S>, "group">): Option<S> =>
    Object.freeze({ ...definition, group });
