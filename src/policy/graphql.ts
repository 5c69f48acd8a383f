import { type DocumentNode, parse, type SelectionSetNode } from "graphql";
import { BridgeError } from "../errors.ts";

export type OperationKind = "query" | "mutation" | "subscription";

function read(document: string): DocumentNode {
  try {
    return parse(document);
  } catch (error) {
    throw new BridgeError("invalid_params", `The GraphQL document does not parse: ${(error as Error).message}`, "Correct the document.");
  }
}

/**
 * Kinds of all operations in a GraphQL document, by parsing it: a string scan can be fooled.
 * @throws BridgeError invalid_params when it does not parse or holds no operation.
 */
export function operationKinds(document: string): readonly OperationKind[] {
  const kinds = read(document).definitions.flatMap((part) =>
    part.kind === "OperationDefinition" ? [part.operation as OperationKind] : [],
  );
  if (kinds.length === 0) throw new BridgeError("invalid_params", "The GraphQL document holds no operation", "Give a query.");
  return kinds;
}

/** Real names of the fields that the mutations of a document call, through aliases and fragments. */
export function mutationFields(document: string): readonly string[] {
  const { definitions } = read(document);
  const fragments = new Map(
    definitions.flatMap((part) => (part.kind === "FragmentDefinition" ? [[part.name.value, part.selectionSet] as const] : [])),
  );
  const seen = new Set<string>();
  const names = (set: SelectionSetNode | undefined): string[] =>
    (set?.selections ?? []).flatMap((part) => {
      if (part.kind === "Field") return [part.name.value];
      if (part.kind === "InlineFragment") return names(part.selectionSet);
      if (seen.has(part.name.value)) return [];
      seen.add(part.name.value);
      return names(fragments.get(part.name.value));
    });
  const mutations = definitions.filter((part) => part.kind === "OperationDefinition" && part.operation === "mutation");
  return [...new Set(mutations.flatMap((part) => (part.kind === "OperationDefinition" ? names(part.selectionSet) : [])))];
}

/** A field that a document asks for, by its real name, with the fields and types that it stands in. */
export interface Asked {
  readonly name: string;
  readonly within: readonly string[];
}

/** Every field that a document asks for, whatever it is called in the answer. */
export function askedFields(document: string): readonly Asked[] {
  const walk = (set: SelectionSetNode | undefined, within: readonly string[]): Asked[] =>
    (set?.selections ?? []).flatMap((part): Asked[] => {
      if (part.kind === "FragmentSpread") return [];
      if (part.kind === "InlineFragment") return walk(part.selectionSet, [...within, part.typeCondition?.name.value ?? ""]);
      return [{ name: part.name.value, within }, ...walk(part.selectionSet, [...within, part.name.value])];
    });
  return read(document).definitions.flatMap((part) => {
    if (part.kind === "OperationDefinition") return walk(part.selectionSet, []);
    return part.kind === "FragmentDefinition" ? walk(part.selectionSet, [part.typeCondition.name.value, part.name.value]) : [];
  });
}
