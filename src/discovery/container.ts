/** Numbers side by side, as a file holds them. */
type Numbers = Uint8Array | Uint16Array | Uint32Array | Int16Array | Int32Array | Float32Array;

export type Part = Numbers | readonly string[];

const KINDS = { Uint8Array, Uint16Array, Uint32Array, Int16Array, Int32Array, Float32Array } as const;

type Kind = keyof typeof KINDS;

const ALIGNED = 8;
const align = (at: number) => Math.ceil(at / ALIGNED) * ALIGNED;

/** Closes each string of a list; none holds it. */
const END = "\n";

/** Parts by name as one file: the length of a head, the head in JSON (name, kind, place, length), then the parts. */
export function toFile(parts: Readonly<Record<string, Part>>): Buffer {
  const head: [string, Kind | "text", number, number][] = [];
  const bodies: Buffer[] = [];
  let at = 0;
  for (const [name, part] of Object.entries(parts)) {
    const isText = Array.isArray(part);
    const body = isText
      ? Buffer.from(part.join(END))
      : Buffer.from((part as Numbers).buffer, (part as Numbers).byteOffset, (part as Numbers).byteLength);
    head.push([name, isText ? "text" : ((part as Numbers).constructor.name as Kind), at, isText ? part.length : body.byteLength]);
    bodies.push(body, Buffer.alloc(align(body.byteLength) - body.byteLength));
    if (isText) head[head.length - 1]?.push(body.byteLength);
    at += align(body.byteLength);
  }
  const json = Buffer.from(JSON.stringify(head));
  const size = Buffer.alloc(ALIGNED);
  size.writeUInt32LE(json.byteLength);
  return Buffer.concat([size, json, Buffer.alloc(align(json.byteLength) - json.byteLength), ...bodies]);
}

export interface Container {
  strings(name: string): string[];
  numbers<T extends Numbers>(name: string): T;
}

/** The parts of a file, read where they lie. */
export function fromFile(file: Buffer): Container {
  const bytes = file.byteOffset % ALIGNED === 0 ? file : Buffer.from(new Uint8Array(file).buffer);
  const size = bytes.readUInt32LE(0);
  const head = JSON.parse(bytes.toString("utf8", ALIGNED, ALIGNED + size)) as [string, Kind | "text", number, number, number?][];
  const start = ALIGNED + align(size);
  const places = new Map(head.map((place) => [place[0], place]));
  const placeOf = (name: string) => {
    const place = places.get(name);
    if (!place) throw new Error(`The index has no part "${name}".`);
    return place;
  };
  return {
    strings(name) {
      const [, , at, length, byteLength = 0] = placeOf(name);
      return length === 0 ? [] : bytes.toString("utf8", start + at, start + at + byteLength).split(END);
    },
    numbers<T extends Numbers>(name: string) {
      const [, kind, at, byteLength] = placeOf(name);
      const made = KINDS[kind as Kind];
      return new made(bytes.buffer as ArrayBuffer, bytes.byteOffset + start + at, byteLength / made.BYTES_PER_ELEMENT) as T;
    },
  };
}
