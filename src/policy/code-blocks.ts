/** What makes it uncertain which lines GitLab takes for code: HTML, other fences, quotes of many lines, a head of settings. */
const UNCERTAIN = /^[ \t]*(<|~~~|>>>|\$\$)|^[ \t]+```|````|\r(?!\n)|[\u2028\u2029]/m;
const HEAD = /^\s*(---|\+\+\+|;;;)/;

const OPENS = /^```[\w+#.-]*$/;
const CLOSES = "```";

const isPaired = (line: string) => (line.match(/`/g) ?? []).length % 2 === 0;

/**
 * A text without its blocks of code, whose lines GitLab carries out as little as it shows them as text. Only the plainest form counts,
 * three backticks at the start of a line and none beside them: where anything is in doubt, the whole text is given back.
 */
export function outsideCode(text: string): string {
  if (!text.includes(CLOSES) || UNCERTAIN.test(text) || HEAD.test(text)) return text;
  const kept: string[] = [];
  let inside = false;
  for (const line of text.split(/\r?\n/)) {
    if (inside) {
      if (line === CLOSES) inside = false;
      else if (line.startsWith(CLOSES)) return text;
    } else if (line.startsWith(CLOSES)) {
      if (!OPENS.test(line)) return text;
      inside = true;
      kept.push("");
    } else {
      if (!isPaired(line)) return text;
      kept.push(line);
    }
  }
  return inside ? text : kept.join("\n");
}
