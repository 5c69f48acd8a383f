/** Where the body of a success goes, chunk by chunk. Begun anew with each try. */
export interface Intake {
  begin(response: Response): Promise<void>;
  /** @returns false when enough was taken. */
  take(chunk: Uint8Array): Promise<boolean>;
  /** What is kept in memory, and what of the body that is. */
  end(): { readonly bytes: Uint8Array; readonly kept?: Kept };
  /** Takes as long as bytes come; otherwise the time limit covers the whole body. */
  readonly patient?: boolean;
}

/** Of a body that is longer than what is kept: its start or its end. */
export type Kept = "start" | "end";

/** Bytes of an answer that are kept in memory. */
export const MOST_BYTES = 32 * 1024 * 1024;

/** The first bytes of a text; the rest is not waited for. */
export function takeStart(most = MOST_BYTES): Intake {
  let chunks: Uint8Array[] = [];
  let size = 0;
  return {
    async begin() {
      chunks = [];
      size = 0;
    },
    async take(chunk) {
      chunks.push(chunk);
      size += chunk.byteLength;
      return size <= most;
    },
    end: () => ({ bytes: Buffer.concat(chunks).subarray(0, most), ...(size > most ? { kept: "start" as const } : {}) }),
  };
}

/** The last bytes of a text, however long it is: what came before is let go as it comes. */
export function takeEnd(most = MOST_BYTES): Intake {
  let chunks: Uint8Array[] = [];
  let size = 0;
  let dropped = 0;
  return {
    async begin() {
      chunks = [];
      size = 0;
      dropped = 0;
    },
    async take(chunk) {
      chunks.push(chunk);
      size += chunk.byteLength;
      for (let first = chunks[0]; first && size - first.byteLength >= most; first = chunks[0]) {
        chunks.shift();
        size -= first.byteLength;
        dropped += first.byteLength;
      }
      return true;
    },
    end() {
      const bytes = Buffer.concat(chunks);
      return { bytes: bytes.subarray(Math.max(0, bytes.byteLength - most)), ...(dropped + size > most ? { kept: "end" as const } : {}) };
    },
  };
}
