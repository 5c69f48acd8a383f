/** Levels from quiet to talkative; a log writes its own level and everything before it. */
export const LOG_LEVELS = ["silent", "error", "warn", "info", "debug"] as const;

export type LogLevel = (typeof LOG_LEVELS)[number];

export interface Log {
  readonly error: (message: string) => void;
  readonly warn: (message: string) => void;
  readonly info: (message: string) => void;
  readonly debug: (message: string) => void;
  /** From now on the value is masked wherever it turns up. */
  readonly hide: (secret: string) => void;
  /** The same for as long as it is needed: the answer ends it. A value held several times is masked until all have ended. */
  readonly hold: (secret: string) => () => void;
  /** The text without any known or recognisable secret. */
  readonly mask: (text: string) => string;
}

export interface LogOptions {
  readonly level: LogLevel;
  readonly write?: (line: string) => void;
}

export const MASK = "[masked]";

/** Shorter values would blank out ordinary words. */
const SHORTEST = 6;

const KNOWN_FORMS: readonly (readonly [RegExp, string])[] = [
  [/(-----BEGIN [A-Z ]*PRIVATE KEY-----)[\s\S]*?(?:-----END [A-Z ]*PRIVATE KEY-----|$)/g, `$1${MASK}`],
  // Registration tokens of runners, and signed tokens (jobs, licences).
  [/\b(GR1348941)[A-Za-z0-9_-]{8,}/g, `$1${MASK}`],
  [/\beyJ[A-Za-z0-9_-]{10,}\.[A-Za-z0-9_-]{10,}\.[A-Za-z0-9_-]{5,}/g, MASK],
  [/\b(gl(?:pat|oas|dt|rtr?|cbt|ptt|ft|imt|agent|wt|soat|ffct|bt|sat|csrf)-)[A-Za-z0-9_.-]{8,}/g, `$1${MASK}`],
  // What else begins like a token of GitLab is one where it is no word.
  [/\b(gl[a-z]{2,6}-)(?=[A-Za-z0-9_.-]*[A-Z0-9])[A-Za-z0-9_.-]{16,}/g, `$1${MASK}`],
  [/\b(bearer\s+)[^\s"',]+/gi, `$1${MASK}`],
  [/\b(basic\s+)(?=[^\s"',]*[\d=+/])[^\s"',]{6,}/gi, `$1${MASK}`],
  [/\b((?:private|job|deploy)-token["':\s=]+)[^\s"',}]+/gi, `$1${MASK}`],
];

const IN_ADDRESSES: readonly (readonly [RegExp, string])[] = [
  [/([a-z][a-z0-9+.-]*:\/\/[^\s/:@]*:)[^\s/@]+@/gi, `$1${MASK}@`],
  [
    /([?&](?:private_token|access_token|job_token|token|x-amz-(?:signature|credential|security-token)|sig|signature)=)[^&\s"']+/gi,
    `$1${MASK}`,
  ],
];

const replaceAll = (text: string, forms: typeof KNOWN_FORMS): string =>
  forms.reduce((masked, [form, by]) => masked.replace(form, by), text);

/** Masks passwords and tokens that stand in an address, and nothing else of it. */
export const maskAddress = (text: string): string => replaceAll(text, IN_ADDRESSES);

/** Masks tokens by their form: prefixes of GitLab, credentials in headers, URLs and queries. */
export function maskForms(text: string): string {
  return maskAddress(replaceAll(text, KNOWN_FORMS));
}

/** Writes to stderr only: stdout belongs to the protocol. */
export function createLog({ level, write = (line) => process.stderr.write(line) }: LogOptions): Log {
  const secrets = new Set<string>();
  const held = new Map<string, number>();
  const mask = (text: string) => maskForms([...secrets, ...held.keys()].reduce((masked, secret) => masked.replaceAll(secret, MASK), text));
  const at = (own: LogLevel) => (message: string) => {
    if (LOG_LEVELS.indexOf(own) <= LOG_LEVELS.indexOf(level)) write(`${own}: ${mask(message)}\n`);
  };
  const hide = (secret: string) => {
    if (secret.length >= SHORTEST) secrets.add(secret);
  };
  const hold = (secret: string) => {
    if (secret.length < SHORTEST) return () => {};
    held.set(secret, (held.get(secret) ?? 0) + 1);
    let ended = false;
    return () => {
      if (ended) return;
      ended = true;
      const left = (held.get(secret) ?? 1) - 1;
      if (left > 0) held.set(secret, left);
      else held.delete(secret);
    };
  };
  return Object.freeze({ error: at("error"), warn: at("warn"), info: at("info"), debug: at("debug"), hide, hold, mask });
}
