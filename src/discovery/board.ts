import { type AskIndex, LIKES, type LikeBoard, makeLikeBoard } from "./asks.ts";

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
  readonly touched: number[];
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
  readonly verb: Uint8Array;
  readonly head: Uint8Array;
  readonly licensed: Uint8Array;
  readonly window: Uint16Array;
  readonly touched: number[];
}

export interface Board {
  readonly now: WindowBoard;
  readonly best: BestBoard;
  readonly like: LikeBoard;
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
  touched: [],
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
  verb: new Uint8Array(size),
  head: new Uint8Array(size),
  licensed: new Uint8Array(size),
  window: new Uint16Array(size),
  touched: [],
});

export const makeBoard = (size: number, asks: AskIndex): Board => ({
  now: makeWindowBoard(size),
  best: makeBestBoard(size),
  like: makeLikeBoard(asks, size),
});

/** Makes room for the next query. */
export function clearBoard({ now, best }: Board): void {
  now.stamp.fill(-1);
  for (const doc of best.touched) best.score[doc] = -1;
  for (const doc of best.touched) best.sum[doc] = 0;
  best.touched.length = 0;
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
  board.touched.push(doc);
}
