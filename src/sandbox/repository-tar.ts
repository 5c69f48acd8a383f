import { gzipSync } from "node:zlib";

export interface TarFile {
  readonly path: string;
  readonly mode: string;
  readonly content: Buffer;
}

const octal = (value: number, width: number) => `${value.toString(8).padStart(width - 1, "0")}\0`;

function header(file: TarFile, seconds: number): Buffer {
  const block = Buffer.alloc(512);
  block.write(file.path.slice(-100), 0);
  block.write(octal(Number.parseInt(file.mode.slice(-3), 8), 8), 100);
  block.write(octal(0, 8), 108);
  block.write(octal(0, 8), 116);
  block.write(octal(file.content.length, 12), 124);
  block.write(octal(seconds, 12), 136);
  block.write("        0", 148);
  block.write("ustar\0" + "00", 257);
  const sum = block.reduce((total, byte) => total + byte, 0);
  block.write(`${sum.toString(8).padStart(6, "0")}\0 `, 148);
  return block;
}

/** A tar of these files. */
export function tarOf(files: readonly TarFile[], date: string): Buffer {
  const seconds = Math.floor(Date.parse(date) / 1000);
  const parts = files.flatMap((file) => [header(file, seconds), file.content, Buffer.alloc((512 - (file.content.length % 512)) % 512)]);
  return Buffer.concat([...parts, Buffer.alloc(1024)]);
}

export const gzip = (content: Buffer): Buffer => gzipSync(content, { level: 6 });

const CRC = Array.from({ length: 256 }, (_, byte) => {
  let value = byte;
  for (let bit = 0; bit < 8; bit++) value = value & 1 ? (value >>> 1) ^ 0xedb88320 : value >>> 1;
  return value >>> 0;
});

const crc32 = (content: Buffer) => ~content.reduce((crc, byte) => (CRC[(crc ^ byte) & 255] ?? 0) ^ (crc >>> 8), ~0) >>> 0;

/** A zip of these files, stored without compression. */
export function zipOf(files: readonly Pick<TarFile, "path" | "content">[]): Buffer {
  const bodies: Buffer[] = [];
  const index: Buffer[] = [];
  let offset = 0;
  for (const { path, content } of files) {
    const name = Buffer.from(path);
    const fields = Buffer.alloc(26);
    fields.writeUInt16LE(20, 0);
    fields.writeUInt16LE(0x0800, 2);
    fields.writeUInt16LE(0x21, 8);
    fields.writeUInt32LE(crc32(content), 10);
    fields.writeUInt32LE(content.length, 14);
    fields.writeUInt32LE(content.length, 18);
    fields.writeUInt16LE(name.length, 22);
    const body = Buffer.concat([Buffer.from("PK\x03\x04", "latin1"), fields, name, content]);
    const tail = Buffer.alloc(14);
    tail.writeUInt32LE(offset, 10);
    index.push(Buffer.concat([Buffer.from("PK\x01\x02\x14\x00", "latin1"), fields, tail, name]));
    bodies.push(body);
    offset += body.length;
  }
  const listing = Buffer.concat(index);
  const end = Buffer.alloc(18);
  end.writeUInt16LE(files.length, 4);
  end.writeUInt16LE(files.length, 6);
  end.writeUInt32LE(listing.length, 8);
  end.writeUInt32LE(offset, 12);
  return Buffer.concat([...bodies, listing, Buffer.from("PK\x05\x06", "latin1"), end]);
}
