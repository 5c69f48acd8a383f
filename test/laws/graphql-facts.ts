import { readFileSync } from "node:fs";
import { buildASTSchema, concatAST, type GraphQLSchema, parse } from "graphql";

const read = (name: string) =>
  parse(readFileSync(new URL(`../../fixtures/facts/${name}.graphql`, import.meta.url), "utf8"), { noLocation: true });

const older = read("graphql");

export const NEWER = read("graphql-newer");

/** GitLab's schema of 16.3, and with what came after it, as far as the rows use it. */
export const OLD: GraphQLSchema = buildASTSchema(older, { assumeValid: true, assumeValidSDL: true });
export const ALL: GraphQLSchema = buildASTSchema(concatAST([older, NEWER]), { assumeValid: true, assumeValidSDL: true });
