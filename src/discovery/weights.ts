/** Every number of the ranking. Fitted on the tune half of `fixtures/find` only. */
export const WEIGHTS = {
  /** Weight of a field and the number of words up to which it is not long. */
  fields: {
    id: { weight: 3, length: 4 },
    pair: { weight: 3.12, length: 1_000 },
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
  intent: {
    /** How well an action of a class answers a wish of a class; rows are wishes. `act` is a wish said with a verb of its own. */
    wished: {
      list: { list: 1, get: 0.7, create: 0.4, update: 0.4, delete: 0.2, act: 0.6 },
      get: { list: 0.86, get: 1, create: 0.4, update: 0.4, delete: 0.2, act: 0.6 },
      create: { list: 0.45, get: 0.45, create: 1, update: 0.62, delete: 0.2, act: 0.75 },
      update: { list: 0.45, get: 0.35, create: 0.62, update: 1, delete: 0.2, act: 0.8 },
      delete: { list: 0.45, get: 0.45, create: 0.3, update: 0.4, delete: 1, act: 0.6 },
      act: { list: 0.7, get: 0.7, create: 0.7, update: 0.7, delete: 0.3, act: 0.7 },
    },
    /** Without any verb reading is likelier than changing. */
    unsaid: { list: 1, get: 0.94, create: 0.72, update: 0.9, delete: 0.4, act: 0.8 },
    /** Without any verb that is known, but said to be so from now on. */
    demanded: { list: 0.8, get: 0.76, create: 0.95, update: 1, delete: 0.4, act: 0.9 },
    /** Part of the fit of the plain class that a verb of its own is a kind of. */
    kind: 0.9,
    /** An action with a verb of its own that only reads, under a wish to read, under another, and one that changes under a wish to read. */
    readingAct: 0.95,
    otherAct: 0.6,
    writingAct: 0.4,
    /** A question meets an action that changes something. */
    asked: 0.6,
    /** Several were asked for, the action gives one. */
    manyGot: 0.85,
  },
  /**
   * Phrases: weight of a word as it was said, of a verb, of a question and of a canonical term; `stranger`: part of the weight of a word
   * that no phrase has; the rest says what the best likeness adds to the score of a window.
   */
  asks: { raw: 1, verb: 0.7, question: 0.3, canonical: 1, idfPower: 0.6, stranger: 0.5, add: 0.3, power: 1.5, fit: 0.5 },
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
  /** What is left of a thing that was said not to be wanted (`do not …`). */
  hushed: 0.4,
  /** What is left of `latest` where several were asked for. */
  latestOfMany: 0.2,
  /** Edits that a typing mistake may be away, in short words and in longer ones. */
  typo: { short: 1, long: 2 },
  /** Two terms side by side as the action's id has them. */
  pair: 0.34,
  /** A parameter's name, the words it is made of, and a plain word that happens to be one. */
  name: { whole: 1.1, word: 0.25, plain: 0.4 },
  /** An ordinary word that no action is named by. */
  ordinary: 0.4,
  /** `aside`: what a story says around the wish in it. */
  window: {
    aside: 0.5,
    near: 3,
    far: 0.62,
    verbReach: 2,
    size: 6,
    cue: 1.25,
    imperative: 1,
    verb: 1.05,
    whole: 1,
    part: 0.92,
  },
  /** Share of the score that does not depend on how much of the window was answered. */
  coverageFloor: 0.71,
  /** A question, or a wish to read, that meets an action of its own verb which changes something. */
  ownVerbAsked: 0.65,
  /** Results below this share of the best are left out. */
  cut: 0.08,
  /** Brings scores of the ranker closer together, so that shares of them read as before. */
  temper: 0.4,
  withheldCut: 0.6,
  confident: { coverage: 0.6, margin: 0.2 },
} as const;
