/** Words on a terminal: colour only where it has it. */
export interface Screen {
  title(text: string): void;
  line(text: string): void;
  /** Prints the finding and remembers a failure. */
  check(ok: boolean, text: string): void;
  table(head: readonly string[], rows: readonly (readonly string[])[]): void;
  readonly failures: readonly string[];
}

const CODES = { bold: 1, dim: 2, red: 31, green: 32, cyan: 36 } as const;

export function createScreen(colour: boolean, width = 100): Screen {
  const paint = (code: keyof typeof CODES, text: string) => (colour ? `\u001b[${CODES[code]}m${text}\u001b[0m` : text);
  const clip = (text: string) => (text.length > width ? `${text.slice(0, width - 1)}…` : text);
  const failures: string[] = [];
  let number = 0;
  return {
    failures,
    title(text) {
      number++;
      console.log(`\n${paint("bold", `${number}. ${text}`)}`);
    },
    line(text) {
      for (const part of text.split("\n")) console.log(paint("dim", `   ${clip(part)}`));
    },
    check(ok, text) {
      if (!ok) failures.push(text);
      console.log(`   ${ok ? paint("green", "✓") : paint("red", "✗")} ${text}`);
    },
    table(head, rows) {
      const widths = head.map((name, column) => Math.max(name.length, ...rows.map((row) => (row[column] ?? "").length)));
      const toLine = (cells: readonly string[]) =>
        cells.map((cell, column) => (column === 0 ? cell.padEnd(widths[column] ?? 0) : cell.padStart(widths[column] ?? 0))).join("   ");
      console.log(`\n   ${paint("cyan", toLine(head))}`);
      for (const row of rows) console.log(`   ${toLine(row)}`);
    },
  };
}
