import { createHash } from "node:crypto";
import { STYLE } from "./report-style.ts";
import { number } from "./report-words.ts";
import type { Interval } from "./stats.ts";

export const toHtml = (text: string): string =>
  text.replace(/[&<>"']/g, (mark) => ({ "&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;", "'": "&#39;" })[mark] ?? mark);

export function cell({ value, low, high }: Interval, show: (value: number) => string = number): string {
  const [from, to] = [show(low), show(high)];
  const width = from === to ? "" : `<small>${from} to ${to}</small>`;
  return `<td>${show(value)}${width}</td>`;
}

/** A table that scrolls by itself, so that the page never does. */
export function table(label: string, head: readonly string[], rows: readonly string[], kind = "pinned"): string {
  const cells = head.map((text) => (text.startsWith("<th") ? text : `<th scope="col">${text}</th>`)).join("");
  return `<div class="scroll" role="region" aria-label="${toHtml(label)}" tabindex="0"><table class="${kind}"><thead><tr>${cells}</tr></thead><tbody>${rows.join("")}</tbody></table></div>`;
}

export const row = (head: string, cells: string): string => `<tr><th scope="row">${head}</th>${cells}</tr>`;

const hash = (text: string) => `'sha256-${createHash("sha256").update(text).digest("base64")}'`;

/** What is in a page beside its looks. */
export interface PageParts {
  readonly title: string;
  readonly body: string;
  /** Runs in the page, with the data that it reads. */
  readonly script?: { readonly code: string; readonly json: string };
}

/** A page that needs nothing else: nothing is loaded, sent or run but what stands in it. */
export function toFile({ title, body, script }: PageParts): string {
  const scripts = script ? ` script-src ${hash(script.code)};` : "";
  const policy = `default-src 'none'; style-src ${hash(STYLE)};${scripts} base-uri 'none'; form-action 'none'`;
  const code = script ? `\n<script type="application/json" id="runs">${script.json}</script>\n<script>${script.code}</script>` : "";
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="${policy}">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>${toHtml(title)}</title>
<style>${STYLE}</style>
</head>
<body>
${body}${code}
</body>
</html>
`;
}
