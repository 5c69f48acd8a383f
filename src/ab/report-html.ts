import type { Report } from "./report-model.ts";
import type { Run } from "./types.ts";

/** The report as one page that needs nothing else. */
export function toPage(report: Report, _runs: readonly Run[], _prompts: Readonly<Record<string, string>> = {}): string {
  return `<!doctype html><title>${report.runs} runs</title>`;
}
