import { GITLAB } from "../catalog/load.ts";
import type { Action } from "../catalog/types.ts";
import { outsideCode } from "./code-blocks.ts";
import { fold } from "./foreign.ts";

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
const TEXT = /(^|_)(title|description|body|note|message|summary|comment|text|reason|template)$/;
/** Those whose lines GitLab takes for commands. */
const COMMANDED = /(^|_)(description|body|note|summary|comment|text)$/;

const PATH = "[A-Za-z0-9_.][A-Za-z0-9_.-]*";
/** What stands behind a path to make a reference of it: `#1`, `!2`, `&3`, `$4`, `^alert#5`, `@a1b2c3d`. */
const MARK = /(?:[#!&$]|\^alert#)\d+|@[0-9a-f]{7,64}(?![\w-])/g;
const OF_PATH = /[A-Za-z0-9_./-]/;
const LONGEST_PATH = 1_000;
/** `[issue:group/app/1]`. */
const BRACKETED = new RegExp(`\\[[a-z_]+:(${PATH}(?:/${PATH})*)/[^\\]/]+\\]`, "g");
/** Marks of other scripts end an address too: no blank need stand before them. */
const ADDRESS = /https?:\/\/[^\s<>"')\]\u2018-\u201f\u2026\u3001-\u3020\uff01-\uff0f\uff1a-\uff20\uff3b-\uff40\uff5b-\uff65]+/gi;
/** What closes a sentence or a mark-up behind an address; no path of a project ends so. */
const AFTER_ADDRESS = ".,;:!?*`~|}";
/** Lines that move a thing elsewhere. */
const MOVING = /^[ \t]*\/(?:move|clone|move_to|clone_to)(?!\S)[ \t]*(.*)$/gim;
/** Lines that hang a thing below something of the group above. */
const RISING = /^[ \t]*\/(?:promote|promote_to|epic|parent_epic|child_epic|set_parent|parent|add_child|add_parent)(?!\S)[ \t]*(.*)$/gim;

function all(pattern: RegExp, text: string): readonly RegExpMatchArray[] {
  return [...text.matchAll(pattern)];
}

function addressIn(text: string): string {
  let end = text.length;
  while (AFTER_ADDRESS.includes(text[end - 1] ?? " ")) end--;
  return text.slice(0, end);
}

/** The path that ends at a place of a text, as GitLab finds it: a dash or a slash may stand before it, but begins none of its parts. */
function pathBefore(text: string, end: number): string {
  let start = end;
  while (start > 0 && end - start < LONGEST_PATH && OF_PATH.test(text[start - 1] ?? "")) start--;
  const parts = text.slice(start, end).split("/");
  const broken = parts.findLastIndex((part) => part === "" || part.startsWith("-"));
  if (broken < 0) return parts.join("/");
  const rest = (parts[broken] ?? "").replace(/^-+/, "");
  return [...(rest === "" ? [] : [rest]), ...parts.slice(broken + 1)].join("/");
}

function leadsOf(name: string, text: string): readonly Mention[] {
  const bare = text.replace(ADDRESS, " ");
  const marked = all(MARK, bare).map(({ 0: mark, index = 0 }) => ({ path: pathBefore(bare, index), mark }));
  const bracketed = all(BRACKETED, bare).map(([whole, path = ""]) => ({ path, mark: whole }));
  return [
    ...all(ADDRESS, text).map(([whole]): Mention => {
      const address = addressIn(whole);
      return { name, text: address, kind: "address", value: address };
    }),
    ...[...marked.filter(({ path }) => path !== ""), ...bracketed].map(
      ({ path, mark }): Mention => ({
        name,
        text: mark.startsWith("[") ? mark : `${path}${mark}`,
        kind: path.includes("/") ? "path" : "short",
        value: path,
      }),
    ),
  ];
}

/** Where the references and addresses of a text that is only read lead to, each place once. */
export function leadsIn(text: string): readonly Mention[] {
  const places = new Map(leadsOf("", text).map((lead) => [`${lead.kind} ${lead.value.toLowerCase()}`, lead]));
  return [...places.values()];
}

/** `lines`: the text as far as its lines can be commands. */
function mentionsOf(name: string, text: string, lines = text): readonly Mention[] {
  const moved = all(MOVING, lines).map(([line, to = ""]): Mention => {
    const value =
      to
        .trim()
        .split(/\s+/)[0]
        ?.replace(/^["']|["']$/g, "") ?? "";
    return { name, text: line.trim(), kind: /^https?:/i.test(value) ? "address" : "path", value };
  });
  // A thing of the same project is named by its bare number.
  const risen = all(RISING, lines).filter(([, to = ""]) => !/^\s*#\d+\s*$/.test(to));
  return [
    ...leadsOf(name, text),
    // Without a place a thing is moved nowhere, and copied beside itself.
    ...moved.filter(({ value }) => value !== ""),
    ...risen.map(([line]): Mention => ({ name, text: line.trim(), kind: "above", value: "" })),
  ];
}

function read<T>(params: Params, of: (name: string, text: string) => readonly T[]): readonly T[] {
  const walk = (name: string, value: unknown): readonly T[] => {
    if (Array.isArray(value)) return value.flatMap((item) => walk(name, item));
    if (typeof value === "object" && value !== null)
      return Object.entries(value).flatMap(([key, inner]) => walk(/^\d+$/.test(key) ? name : key, inner));
    return typeof value === "string" ? of(name, value) : [];
  };
  return Object.entries(params).flatMap(([name, value]) => walk(name, value));
}

/** Every place that the texts of a write lead to, at any depth. */
export const mentionsIn = (params: Params): readonly Mention[] =>
  read(params, (name, text) => (TEXT.test(name) ? mentionsOf(name, text, COMMANDED.test(name) ? outsideCode(text) : text) : []));

/** References that a read asks GitLab to resolve. */
export const referencesIn = (params: Params): readonly Mention[] =>
  read(params, (name, text) => (name === "references" ? leadsOf(name, text) : []));

/** What GitLab takes for bytes of a file. */
const BYTES = /^(old|new)$|(^|_)(contents?|file|old_str|new_str|patch|diff)$/;
const IS_ADDRESS = /^\s*(?:(?:https?|ssh|git(?:\+ssh)?):\/\/|[\w.-]+@[\w.-]+:)\S+\s*$/i;
/** `path/to/file.yml@group/app:ref`: a CI configuration that is read from another project. */
const CONFIGURATION = /(^|_)(config_path|pipeline_configuration(_full_path)?)$/;

function addressesOf(name: string, text: string): readonly Mention[] {
  if (CONFIGURATION.test(name)) {
    const elsewhere = /@([^@:\s]+)(?::\S*)?\s*$/.exec(text)?.[1];
    if (elsewhere !== undefined) return [{ name, text, kind: "path", value: elsewhere }];
  }
  const isAddress = /(^|_)(url|uri)$/.test(name) || (!BYTES.test(name) && !TEXT.test(name) && IS_ADDRESS.test(text));
  return isAddress ? [{ name, text, kind: "address", value: text }] : [];
}

/** Addresses that a call hands to GitLab, to send to or to fetch from, whatever they are called. */
export const addressesIn = (params: Params): readonly Mention[] => read(params, addressesOf);

/** Of a tool of another server nobody knows what it calls a text: all counts but the contents of files. */
const isForeignText = (name: string) => !BYTES.test(name) && !/(^|_)(search|query|term)$/.test(name);

export const foreignMentionsIn = (params: Params): readonly Mention[] =>
  read(params, (name, text) => (isForeignText(fold(name)) ? mentionsOf(name, text) : []));

/** Texts in which a line can be a command. What another server makes of a text nobody knows: there code is no exception. */
export const textsIn = ({ source }: Pick<Action, "source">, params: Params): readonly string[] =>
  read(params, (name, text) => {
    if (source !== GITLAB) return isForeignText(fold(name)) ? [text] : [];
    return COMMANDED.test(name) ? [outsideCode(text)] : [];
  });
