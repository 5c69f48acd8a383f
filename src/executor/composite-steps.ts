import type { Outcome } from "../catalog/types.ts";
import { BridgeError } from "../errors.ts";

/** Writes of one composite, in order: what was done is remembered, so that a failure in between can say it. */
export interface Steps {
  /** Runs one step. @throws BridgeError that tells what was done before it and what is left. */
  run(name: string, step: () => Promise<Outcome>): Promise<Outcome>;
}

const list = (names: readonly string[]) => names.join("; ");

/** `planned`: every step by its name, in order. `advice`: what to do when a later step fails, by what was done. */
export function createSteps(action: string, planned: readonly string[], advice: (done: readonly string[]) => string): Steps {
  const done: string[] = [];
  const stopped = (name: string, cause: BridgeError): BridgeError => {
    const left = planned.slice(planned.indexOf(name) + 1);
    const more = left.length > 0 ? ` Not begun: ${list(left)}.` : "";
    return new BridgeError(
      cause.code,
      `${action} stopped half-way. Done: ${list(done)}. Failed: ${name} (${cause.message.replace(/\.$/, "")}).${more}`,
      `${advice(done)} About the failure: ${cause.hint}`,
      cause.detail,
      cause,
    );
  };
  return {
    async run(name, step) {
      try {
        const outcome = await step();
        done.push(name);
        return outcome;
      } catch (error) {
        if (!(error instanceof BridgeError) || done.length === 0) throw error;
        throw stopped(name, error);
      }
    },
  };
}
