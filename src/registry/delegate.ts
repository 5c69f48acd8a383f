import type { Registry } from "./registry.ts";

/** A registry that is another one from time to time; changes are told where the first one tells them. */
export const delegateRegistry = (events: Registry["events"], now: () => Registry): Registry => ({
  events,
  toolsets: () => now().toolsets(),
  actions: () => now().actions(),
  source: (name) => now().source(name),
  toolset: (name) => now().toolset(name),
  tool: (name) => now().tool(name),
  resolve: (name) => now().resolve(name),
  mayHold: (name) => now().mayHold(name),
  requireToolset: (name) => now().requireToolset(name),
});
