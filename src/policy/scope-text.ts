type Params = Readonly<Record<string, unknown>>;

/** A place that a text of a write leads to: GitLab leaves a note there, closes what is there, or moves things to it. */
export interface Mention {
  /** The parameter. */
  readonly name: string;
  /** As it is written. */
  readonly text: string;
  /** `short`: a project beside the one of the call. `above`: something of the group above it. */
  readonly kind: "path" | "short" | "address" | "above";
  readonly value: string;
}

/** Texts that GitLab reads for references and commands. Contents of files are not among them. */
const TEXT = /(^|_)(title|description|body|note|message|summary|comment)$/;

const PATH = "[A-Za-z0-9_][A-Za-z0-9_.-]*";
/** `group/app#1`, `app!2`, `group&3`, `group/app@a1b2c3d`. */
const REFERENCE = new RegExp(`(?<![\\w./-])(${PATH}(?:/${PATH})*)(?:[#!&$]\\d+|@[0-9a-f]{7,64}(?![\\w-]))`, "g");
/** `[issue:group/app/1]`. */
const BRACKETED = new RegExp(`\\[[a-z_]+:(${PATH}(?:/${PATH})*)/[^\\]/]+\\]`, "g");
const ADDRESS = /https?:\/\/[^\s<>"')\]]+/g;
/** Lines that move a thing elsewhere. */
const MOVING = /^[ \t]*\/(?:move|clone|move_to|clone_to)\b[ \t]*(.*)$/gim;
/** Lines that hang a thing below something of the group above. */
const RISING = /^[ \t]*\/(?:promote|promote_to|epic|parent_epic|child_epic|set_parent|parent|add_child|add_parent)\b[ \t]*(.*)$/gim;

function all(pattern: RegExp, text: string): readonly RegExpMatchArray[] {
  return [...text.matchAll(pattern)];
}

function mentionsOf(name: string, text: string): readonly Mention[] {
  const bare = text.replace(ADDRESS, " ");
  const moved = all(MOVING, text).map(([line, to = ""]): Mention => {
    const value =
      to
        .trim()
        .split(/\s+/)[0]
        ?.replace(/^["']|["']$/g, "") ?? "";
    return { name, text: line.trim(), kind: /^https?:/.test(value) ? "address" : "path", value };
  });
  // A thing of the same project is named by its bare number.
  const risen = all(RISING, text).filter(([, to = ""]) => !/^\s*#\d+\s*$/.test(to));
  return [
    ...all(ADDRESS, text).map(([address]): Mention => ({ name, text: address, kind: "address", value: address })),
    ...[...all(REFERENCE, bare), ...all(BRACKETED, bare)].map(
      ([whole, path = ""]): Mention => ({ name, text: whole, kind: path.includes("/") ? "path" : "short", value: path }),
    ),
    ...moved,
    ...risen.map(([line]): Mention => ({ name, text: line.trim(), kind: "above", value: "" })),
  ];
}

function read(params: Params, of: (name: string, text: string) => readonly Mention[]): readonly Mention[] {
  const walk = (name: string, value: unknown): readonly Mention[] => {
    if (Array.isArray(value)) return value.flatMap((item) => walk(name, item));
    if (typeof value === "object" && value !== null)
      return Object.entries(value).flatMap(([key, inner]) => walk(/^\d+$/.test(key) ? name : key, inner));
    return typeof value === "string" ? of(name, value) : [];
  };
  return Object.entries(params).flatMap(([name, value]) => walk(name, value));
}

/** Every place that the texts of a write lead to, at any depth. */
export const mentionsIn = (params: Params): readonly Mention[] =>
  read(params, (name, text) => (TEXT.test(name) ? mentionsOf(name, text) : []));

/** Addresses that a call hands to GitLab, to send to or to fetch from. */
export const addressesIn = (params: Params): readonly Mention[] =>
  read(params, (name, text) => (/(^|_)(url|uri)$/.test(name) ? [{ name, text, kind: "address", value: text }] : []));
