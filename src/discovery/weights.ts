/** Every number of the ranking. Fitted on the tune half of `fixtures/find` only. */
export const WEIGHTS = {
  /** Weight of a field and the number of words up to which it is not long. */
  fields: {
    id: { weight: 3, length: 4 },
    pair: { weight: 2.4, length: 1_000 },
    tool: { weight: 1.6, length: 5 },
    title: { weight: 1.6, length: 5 },
    about: { weight: 0.9, length: 12 },
    toolset: { weight: 0.3, length: 2 },
    keywords: { weight: 2.5, length: 8 },
    aliases: { weight: 0.8, length: 8 },
    path: { weight: 0.5, length: 6 },
    params: { weight: 0.4, length: 20 },
    paramName: { weight: 2.5, length: 1_000 },
    enums: { weight: 0.35, length: 10 },
  },
  lengthNorm: 0.25,
  saturation: 1.4,
  idfPower: 0.56,
  prior: { essential: 1.12, admin: 0.9, depth: 0.03 },
  /** Share of the score that an action keeps when nothing of its own name was said. */
  coreFloor: 0.45,
  /** Part of a core term's share where only a distant alternative of it was said. */
  weakCore: 0.6,
  /** A verb of the action's own, said exactly. */
  ownVerb: 1.12,
  /** What is left of a verb's weight where it was said as a participle (`running`, `merged`). */
  participle: 0.6,
  /** Two terms side by side as the action's id has them. */
  pair: 0.34,
  /** A parameter's name, the words it is made of, and a plain word that happens to be one. */
  name: { whole: 1.1, word: 0.25, plain: 0.4 },
  /** An ordinary word that no action is named by. */
  ordinary: 0.4,
  window: { size: 6, cue: 1.25, imperative: 1, verb: 1.05, whole: 1, part: 0.92 },
  /** A destructive action that was not asked for in so many words. */
  unlicensed: 0.8,
  /** Share of the score that does not depend on how much of the window was answered. */
  coverageFloor: 0.92,
  /** A question, or a wish to read, that meets an action of its own verb which changes something. */
  ownVerbAsked: 0.5,
  /** Results below this share of the best are left out. */
  cut: 0.25,
  withheldCut: 0.6,
  confident: { coverage: 0.6, margin: 0.06 },
} as const;
