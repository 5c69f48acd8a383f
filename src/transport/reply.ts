/** JSON-RPC codes that an HTTP answer without a request of its own carries. */
export const CODE = {
  parse: -32_700,
  invalidRequest: -32_600,
  invalidParams: -32_602,
  refused: -32_000,
  noSession: -32_001,
} as const;

export interface Refusal {
  readonly status: number;
  readonly code?: number;
  readonly message: string;
  readonly data?: Readonly<Record<string, unknown>>;
  readonly headers?: Readonly<Record<string, string>>;
}

/** An answer that is not there: why, as every client of the protocol can read it. Never HTML. */
export function refuse({ status, code = CODE.refused, message, data, headers = {} }: Refusal): Response {
  return Response.json(
    { jsonrpc: "2.0", error: { code, message, ...(data ? { data } : {}) }, id: null },
    { status, headers: { ...headers } },
  );
}

/** Thrown where a request cannot go on; becomes the answer. */
export class Refused extends Error {
  override readonly name = "Refused";
  readonly refusal: Refusal;

  constructor(refusal: Refusal) {
    super(refusal.message);
    this.refusal = refusal;
  }
}

export const later = (seconds: number): Readonly<Record<string, string>> => ({ "Retry-After": String(Math.max(1, Math.ceil(seconds))) });
