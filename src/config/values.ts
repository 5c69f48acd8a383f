import * as z from "zod";
import { patternFault } from "./pattern.ts";

/** Words for on and off, as people write them in an environment. */
const ON = ["true", "1", "yes", "on", "y", "t"];
const OFF = ["false", "0", "no", "off", "n", "f"];

/** `undefined` where the word means neither. */
export function toBoolean(word: string): boolean | undefined {
  const plain = word.trim().toLowerCase();
  if (ON.includes(plain)) return true;
  return OFF.includes(plain) ? false : undefined;
}

/** Items of comma lists, in order; empty ones and repetitions of the same word are dropped, case is kept. */
export function toList(texts: readonly string[]): string[] {
  const items = new Map<string, string>();
  for (const text of texts.flatMap((one) => one.split(","))) {
    const item = text.trim();
    const key = item.toLowerCase();
    if (item !== "" && !items.has(key)) items.set(key, item);
  }
  return [...items.values()];
}

/** Entries that stand on a line each. */
export const toLines = (texts: readonly string[]): string[] =>
  [...new Set(texts.flatMap((one) => one.split(/\r?\n/)).map((line) => line.trim()))].filter((line) => line !== "");

export const STYLES = ["bridge", "toolsets", "dynamic", "meta", "static", "individual"] as const;

export const list = z.array(z.string().min(1)).readonly().default([]);
export const onOff = z.boolean().default(false);
export const onOffOrNames = z.union([z.boolean(), z.array(z.string().min(1)).min(1).readonly()]).default(false);

/** Regular expressions that are matched in bounded time; anything else is refused. */
export const patterns = z
  .array(z.string().min(1))
  .superRefine((sources, context) => {
    const fault = sources.map((source) => patternFault(source)).find((found) => found !== undefined);
    if (fault !== undefined) context.addIssue({ code: "custom", message: fault });
  })
  .readonly()
  .default([]);
export const text = z
  .string()
  .regex(/^[^\p{Cc}]+$/u, "must be one line")
  .optional();
export const integer = (fallback: number, least: number, most: number) => z.coerce.number().int().min(least).max(most).default(fallback);

/** Goes into a header as it is: nothing but visible ASCII may be in it. */
export const token = z
  .string()
  .trim()
  .regex(/^[\x21-\x7e]+$/, "must be the bare token: no spaces, no line breaks, no word before it")
  .optional();

const withScheme = (address: string): string => (/^[a-z][a-z0-9+.-]*:\/\//i.test(address) ? address : `https://${address}`);

function parseUrl(address: string): URL | undefined {
  return URL.canParse(address) ? new URL(address) : undefined;
}

/** Scheme, host and relative root; no trailing slash and no API suffix. */
const bare = (url: URL): string => `${url.protocol}//${url.host}${url.pathname.replace(/(\/+api(\/+v\d+)?)?\/*$/i, "")}`;

/** What is wrong with the address of an instance, and the address that was probably meant. */
function urlFault(address: string): string | undefined {
  const url = parseUrl(address);
  if (!url || !/^https?:$/.test(url.protocol) || !url.hostname) {
    const meant = parseUrl(withScheme(address.trim().replace(/^[a-z][a-z0-9+.-]*:\/+/i, "")));
    const nearest = meant && !meant.username && !meant.password ? bare(meant) : "https://gitlab.com";
    return `must start with http:// or https://; the nearest is ${nearest}`;
  }
  if (url.username || url.password) return `must hold no user name and no password; the nearest is ${bare(url)}`;
  if (url.search || url.hash) return `must end with its path, without ? and #; the nearest is ${bare(url)}`;
  return undefined;
}

export const instanceUrl = z
  .string()
  .trim()
  .transform((address, context) => {
    const fault = urlFault(address);
    if (fault === undefined) return bare(new URL(address));
    context.addIssue({ code: "custom", message: fault });
    return z.NEVER;
  });

const PROXIES = /^(https?|socks5h?|socks):$/;

/** A proxy's address; one without a scheme is an HTTP proxy, as in every tool that reads these names. */
export const proxyUrl = z
  .string()
  .trim()
  .transform((address, context) => {
    const full = address.includes("://") ? address : `http://${address}`;
    const url = parseUrl(full);
    if (url && PROXIES.test(url.protocol) && url.hostname) return full;
    context.addIssue({ code: "custom", message: "must be an http, https or socks5 address; such as http://proxy.example.com:3128" });
    return z.NEVER;
  })
  .optional();
