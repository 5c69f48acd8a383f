import type { CallContext } from "../catalog/types.ts";
import type { Road } from "./dispatch.ts";

/** Lets a caller's runs through, as many at once as are allowed. */
export type Gate = <T>(context: CallContext, run: () => Promise<T>) => Promise<T>;

/** The road through a gate. A run that waits for a person gives its place to others. */
export const behindGate = (gate: Gate, road: Road): Road => ({
  async run(request, context) {
    const { elicit } = context;
    const started = await gate(context, () => {
      let leave = () => {};
      const left = new Promise<void>((resolve) => {
        leave = resolve;
      });
      const asking: NonNullable<typeof elicit> = async (params) => {
        leave();
        return (await elicit?.(params)) ?? { action: "cancel" };
      };
      const running = road.run(request, elicit ? { ...context, elicit: asking } : context);
      return Promise.race([running, left]).then(() => ({ running }));
    });
    return await started.running;
  },
  follow: (action, context, read) => gate(context, () => road.follow(action, context, read)),
});
