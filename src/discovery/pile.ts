/** Numbers gathered one after another, in room that is kept from window to window: a list that is emptied would lose it. */
export interface Pile {
  readonly ids: Uint16Array;
  size: number;
}

/** Room for each number once. */
export const makePile = (room: number): Pile => ({ ids: new Uint16Array(room), size: 0 });

export function add(pile: Pile, id: number): void {
  pile.ids[pile.size++] = id;
}

/** What was gathered, as it stands now: gone with the next round. */
export const gathered = ({ ids, size }: Pile): Uint16Array => ids.subarray(0, size);
