import type { Settings } from "../config/options.ts";

export type Style = Settings["style"];

/** What a discovery style shows first (DESIGN.md §11). Same catalog, policy and road for all. */
export interface StyleRow {
  /** Entry tools that are listed, in order. */
  readonly entry: readonly string[];
  /** Toolsets that are on at connect where the choice names none. */
  readonly toolsets: readonly string[];
  /** Which actions of a toolset are on at connect. */
  readonly level: "essential" | "all";
  /** Actions stand on the list as one dispatcher per toolset instead of a tool each. */
  readonly dispatchers?: boolean;
}

const PROGRESSIVE = ["list_available_toolsets", "get_toolset_tools", "enable_toolset"];
const PAIR = ["gitlab_find_action", "gitlab_execute_action"];

export const STYLE_ROWS: Readonly<Record<Style, StyleRow>> = {
  bridge: { entry: [...PROGRESSIVE, ...PAIR], toolsets: [], level: "essential" },
  toolsets: { entry: PROGRESSIVE, toolsets: [], level: "essential" },
  dynamic: { entry: PAIR, toolsets: [], level: "essential" },
  meta: { entry: PROGRESSIVE, toolsets: ["all"], level: "all", dispatchers: true },
  static: { entry: PROGRESSIVE, toolsets: ["default"], level: "essential" },
  individual: { entry: [], toolsets: ["all"], level: "all" },
};
