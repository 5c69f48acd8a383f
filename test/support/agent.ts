import type { TestClient } from "./clients.ts";
import { tokens } from "./tokens.ts";

/** The form of results that the host passes on: some keep only text, some only structuredContent. */
export type Form = "text" | "json";
/** How the agent gets at actions. */
export type Way = "find" | "enable";

export interface Reply {
  readonly text: string;
  readonly json: Record<string, unknown>;
  readonly isError: boolean;
  /** What this host shows: the one form as text, for assertions that hold for both. */
  readonly seen: string;
}

/** An agent that takes the shortest honest path and reads only what its host shows. It counts calls and tokens, discovery included. */
export interface Agent {
  readonly form: Form;
  readonly way: Way;
  readonly spent: { calls: number; tokens: number };
  /** Gets at an action: by searching in these words, or by looking at the toolset and enabling the one tool. */
  discover(words: string, toolset: string, id: string): Promise<(params: Record<string, unknown>) => Promise<Reply>>;
  /** Runs an action whose id or tool name is already known from an earlier answer or by its regular form. */
  run(id: string, params: Record<string, unknown>): Promise<Reply>;
}

export function createAgent(client: TestClient, form: Form, way: Way): Agent {
  const spent = { calls: 0, tokens: 0 };
  let listed = new Map<string, unknown>();
  const see = async (name: string, args: Record<string, unknown>): Promise<Reply> => {
    spent.calls++;
    const result = await client.call(name, args);
    const seen = form === "text" ? result.text : JSON.stringify(result.json);
    spent.tokens += tokens({ name, arguments: args }) + tokens(seen);
    return { ...result, seen };
  };
  /** Tools that came onto the list are read by the model too. */
  const relist = async () => {
    const now = new Map((await client.list()).map((tool) => [tool.name, tool]));
    for (const [name, tool] of now) if (!listed.has(name) && listed.size > 0) spent.tokens += tokens(tool);
    listed = now;
  };
  const run = (id: string, params: Record<string, unknown>) => see("gitlab_execute_action", { action: id, params });

  async function byFind(words: string, id: string) {
    const reply = await see("gitlab_find_action", { query: words });
    const ids =
      form === "text"
        ? reply.text.split("\n").flatMap((line) => /^([a-z_]+\.[a-z_]+)\(/.exec(line)?.[1] ?? [])
        : (reply.json.results as { id: string }[]).map((row) => row.id);
    if (!ids.includes(id)) throw new Error(`"${words}" found ${ids.join(", ") || "nothing"}, not ${id}`);
    return (params: Record<string, unknown>) => run(id, params);
  }

  async function byEnabling(toolset: string, id: string) {
    if (listed.size === 0) await relist();
    const shown = await see("get_toolset_tools", { toolset, detail: "names" });
    const name =
      form === "text"
        ? new RegExp(`^([a-z_]+) \\(${id.replace(".", "\\.")},`, "m").exec(shown.text)?.[1]
        : (shown.json.tools as { name: string; action: string }[]).find((tool) => tool.action === id)?.name;
    if (!name) throw new Error(`${toolset} shows no ${id}`);
    const enabled = await see("enable_toolset", { toolset, tools: [name] });
    await relist();
    const path = form === "text" ? (/Call them by name/.test(enabled.text) ? "tools" : "execute") : enabled.json.call_via;
    return (params: Record<string, unknown>) => (path === "tools" ? see(name, params) : run(id, params));
  }

  return {
    form,
    way,
    spent,
    run,
    discover: (words, toolset, id) => (way === "find" ? byFind(words, id) : byEnabling(toolset, id)),
  };
}
