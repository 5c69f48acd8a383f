/** What is made from a text is made once, for as many texts as there is room for. */
export function remember<T>(make: (text: string) => T, room = 20_000): (text: string) => T {
  const known = new Map<string, T>();
  return (text) => {
    const one = known.get(text);
    if (one !== undefined) return one;
    const made = make(text);
    if (known.size >= room) known.clear();
    known.set(text, made);
    return made;
  };
}
