import type { Part } from "./types.ts";

/** Everything that the sandbox can do, in the order in which it is seeded. The generic engine comes first: hand-written rows win over it. */
export const PARTS: readonly Part[] = [];
