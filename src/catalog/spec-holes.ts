import { placeholders } from "./route.ts";
import type { SpecFinding } from "./spec-compare.ts";

/** Something that GitLab's document leaves out or flattens everywhere, or that rows do otherwise everywhere. */
export interface Hole {
  readonly name: string;
  readonly why: string;
  readonly covers: (finding: SpecFinding) => boolean;
}

const PAGING = ["page", "per_page", "pagination", "cursor", "page_token"];

const scalars = ["string", "integer", "number", "boolean"];

/** General differences, each with its reason; what none of them covers needs a line of its own in the data. */
export const HOLES: readonly Hole[] = [
  {
    name: "paging",
    why: "the bridge pages by cursor and limit; rows carry no paging parameters",
    covers: ({ aspect, name = "" }) => aspect === "absent" && PAGING.includes(name),
  },
  {
    name: "path twin",
    why: "the document names a path parameter once more in query or body",
    covers: ({ aspect, name = "", operation }) =>
      aspect === "absent" && operation !== undefined && placeholders(operation.path).includes(name),
  },
  {
    name: "undeclared path",
    why: "the document does not declare this path parameter",
    covers: ({ aspect }) => aspect === "undeclared",
  },
  {
    name: "list as item",
    why: "the document of 18.9 gives the shape of one item where a list is answered",
    covers: ({ aspect, row }) => aspect === "list" && row?.returns === "array",
  },
  {
    name: "flattened list",
    why: "the document of 18.9 gives the type of one value where a list is taken",
    covers: ({ aspect, ours, theirs }) =>
      aspect === "type" && ours?.type === "array" && theirs?.types.every((type) => scalars.includes(type)) === true,
  },
  {
    name: "upload",
    why: "the document shows the way of Workhorse, an upload called file, where JSON fields are taken",
    covers: ({ aspect, name, operation }) =>
      (aspect === "unknown" || (aspect === "absent" && name === "file")) && operation?.rest.file?.types.includes("file") === true,
  },
];

export const holeOf = (finding: SpecFinding): Hole | undefined => HOLES.find((hole) => hole.covers(finding));
