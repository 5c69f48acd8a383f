import { parse } from "graphql";
import { BridgeError } from "../errors.ts";

export type OperationKind = "query" | "mutation" | "subscription";

/**
 * Kinds of all operations in a GraphQL document, by parsing it: a string scan can be fooled.
 * @throws BridgeError invalid_params when it does not parse or holds no operation.
 */
export function operationKinds(document: string): readonly OperationKind[] {
  let kinds: OperationKind[];
  try {
    kinds = parse(document).definitions.flatMap((part) => (part.kind === "OperationDefinition" ? [part.operation as OperationKind] : []));
  } catch (error) {
    throw new BridgeError("invalid_params", `The GraphQL document does not parse: ${(error as Error).message}`, "Correct the document.");
  }
  if (kinds.length === 0) throw new BridgeError("invalid_params", "The GraphQL document holds no operation", "Give a query.");
  return kinds;
}
