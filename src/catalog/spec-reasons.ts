import { readData } from "./load.ts";
import { skeletonOf } from "./spec.ts";
import type { SpecFinding } from "./spec-compare.ts";
import { holeOf } from "./spec-holes.ts";

/** Operations that no row has, each with the key of a reason. */
export interface LeftOut {
  readonly reasons: Readonly<Record<string, string>>;
  readonly operations: Readonly<Record<string, string>>;
}

/** Differences that are right as they are: key of a finding (`*` for any row) → key of a reason. */
export interface Differences {
  readonly reasons: Readonly<Record<string, string>>;
  readonly differences: Readonly<Record<string, string>>;
}

export const loadLeftOut = (): LeftOut => readData<LeftOut>("left-out");
export const loadDifferences = (): Differences => readData<Differences>("spec-differences");

export interface Explained {
  readonly finding: SpecFinding;
  readonly why: string;
}

export interface Judged {
  readonly open: readonly SpecFinding[];
  readonly explained: readonly Explained[];
  /** Listed differences that this document does not show. */
  readonly unused: readonly string[];
}

const keysOf = ({ key, row }: SpecFinding): readonly string[] =>
  row && key.startsWith(`${row.id} `) ? [key, `*${key.slice(row.id.length)}`] : [key];

/** Parts what is known and has its reason from what nobody has judged yet. */
export function judgeFindings(findings: readonly SpecFinding[], leftOut: LeftOut, known: Differences): Judged {
  const out = new Map(
    Object.entries(leftOut.operations).map(([name, reason]) => {
      const [method = "", path = ""] = name.split(" ");
      return [skeletonOf(method, path), leftOut.reasons[reason] ?? reason];
    }),
  );
  const used = new Set<string>();
  const whyOf = (finding: SpecFinding): string | undefined => {
    const entry = keysOf(finding).find((key) => key in known.differences);
    if (entry !== undefined) {
      used.add(entry);
      const reason = known.differences[entry] ?? "";
      return known.reasons[reason] ?? reason;
    }
    const { operation } = finding;
    if (finding.kind === "missing" && finding.aspect === "operation" && operation)
      return out.get(skeletonOf(operation.method, operation.path));
    return holeOf(finding)?.why;
  };
  const open: SpecFinding[] = [];
  const explained: Explained[] = [];
  for (const finding of findings) {
    const why = whyOf(finding);
    if (why === undefined) open.push(finding);
    else explained.push({ finding, why });
  }
  return { open, explained, unused: Object.keys(known.differences).filter((key) => !used.has(key)) };
}
