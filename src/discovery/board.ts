import { areasOf, deedsOf } from "./area.ts";
import { type AskIndex, LIKES, type LikeBoard, makeLikeBoard } from "./asks.ts";
import { add, gathered, makePile, type Pile } from "./pile.ts";
import { popularity } from "./rank.ts";
import type { Doc } from "./search-index.ts";

/** What a window gathered for each action, by number; reused from window to window. */
export interface WindowBoard {
  readonly stamp: Int32Array;
  readonly gain: Float64Array;
  readonly answered: Float64Array;
  /** Bits of the name said plainly, by a distant alternative, and exactly. */
  readonly strong: Int32Array;
  readonly weak: Int32Array;
  readonly exact: Int32Array;
  readonly verb: Uint8Array;
  readonly head: Uint8Array;
  readonly touched: Pile;
}

/** What the best window says of each action. */
export interface BestBoard {
  readonly score: Float64Array;
  /** Scores of all windows together. */
  readonly sum: Float64Array;
  readonly core: Float32Array;
  readonly coverage: Float32Array;
  readonly fit: Float32Array;
  readonly likes: Float32Array;
  readonly said: Int32Array;
  readonly wish: Int8Array;
  readonly asked: Uint8Array;
  readonly lean: Float32Array;
  readonly area: Float32Array;
  /** How likely the query as a whole means the action. */
  readonly deed: Float32Array;
  readonly verb: Uint8Array;
  readonly head: Uint8Array;
  readonly licensed: Uint8Array;
  readonly window: Uint16Array;
  readonly touched: Pile;
}

export interface Board {
  readonly now: WindowBoard;
  readonly best: BestBoard;
  readonly like: LikeBoard;
  /** Room for the place of each action in some list; -1 between its uses. */
  readonly places: Int16Array;
  /** By action: the number of its area. */
  readonly areas: Int16Array;
  /** By action: its number among those that phrases are known of. */
  readonly deeds: Int16Array;
  /** By action: 1 for what people use most, 2 for what they use often. */
  readonly often: Uint8Array;
}

const makeWindowBoard = (size: number): WindowBoard => ({
  stamp: new Int32Array(size).fill(-1),
  gain: new Float64Array(size),
  answered: new Float64Array(size),
  strong: new Int32Array(size),
  weak: new Int32Array(size),
  exact: new Int32Array(size),
  verb: new Uint8Array(size),
  head: new Uint8Array(size),
  touched: makePile(size),
});

const makeBestBoard = (size: number): BestBoard => ({
  score: new Float64Array(size).fill(-1),
  sum: new Float64Array(size),
  core: new Float32Array(size),
  coverage: new Float32Array(size),
  fit: new Float32Array(size),
  likes: new Float32Array(size * LIKES),
  said: new Int32Array(size),
  wish: new Int8Array(size),
  asked: new Uint8Array(size),
  lean: new Float32Array(size),
  area: new Float32Array(size),
  deed: new Float32Array(size),
  verb: new Uint8Array(size),
  head: new Uint8Array(size),
  licensed: new Uint8Array(size),
  window: new Uint16Array(size),
  touched: makePile(size),
});

export const makeBoard = (docs: readonly Doc[], asks: AskIndex): Board => ({
  now: makeWindowBoard(docs.length),
  best: makeBestBoard(docs.length),
  like: makeLikeBoard(asks, docs.length),
  places: new Int16Array(docs.length).fill(-1),
  areas: areasOf(docs.map(({ action }) => action)),
  deeds: deedsOf(docs.map(({ action }) => action)),
  often: Uint8Array.from(docs, ({ action }) => popularity(action)),
});

/** Makes room for the next query. */
export function clearBoard({ now, best }: Board): void {
  now.stamp.fill(-1);
  for (const doc of gathered(best.touched)) {
    best.score[doc] = -1;
    best.sum[doc] = 0;
  }
  best.touched.size = 0;
}

/** An action's part of the board, clean for this window. */
export function touch(board: WindowBoard, doc: number, stamp: number): void {
  if (board.stamp[doc] === stamp) return;
  board.stamp[doc] = stamp;
  board.gain[doc] = 0;
  board.answered[doc] = 0;
  board.strong[doc] = 0;
  board.weak[doc] = 0;
  board.exact[doc] = 0;
  board.verb[doc] = 0;
  board.head[doc] = 0;
  add(board.touched, doc);
}
