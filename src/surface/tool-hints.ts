import type { Action } from "../catalog/types.ts";
import type { Settings } from "../config/options.ts";

type Meta = Readonly<Record<string, unknown>>;

/** What a host that defers tools should keep in view where no entry tool is listed. */
const CORE: ReadonlySet<string> = new Set(["merge_request.overview", "issue.get", "pipeline.explain_failure", "user.current_get"]);

const KEEP = { "anthropic/alwaysLoad": true } as const;

/** Words for a host's own tool search, and the mark of the few actions it should not defer. */
export function hintsForAction(action: Action, { toolHints }: Pick<Settings, "toolHints">): Meta {
  if (toolHints === "off") return {};
  const words = (action.keywords ?? []).join(", ");
  return { ...(words === "" ? {} : { "anthropic/searchHint": words }), ...(CORE.has(action.id) ? KEEP : {}) };
}

/** Entry tools are few and lead to everything else: none is deferred. */
export const hintsForEntry = ({ toolHints }: Pick<Settings, "toolHints">): { readonly _meta?: Meta } =>
  toolHints === "off" ? {} : { _meta: KEEP };
