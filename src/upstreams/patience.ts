/** How long a call may be silent. Progress begins the time anew; while a person is asked it stands still. */
export interface Patience {
  /** Aborts when the caller cancels and when the time is over. */
  readonly signal: AbortSignal;
  begin(): void;
  pause<T>(run: () => Promise<T>): Promise<T>;
  isOver(): boolean;
  end(): void;
}

export function createPatience(ms: number, caller: AbortSignal): Patience {
  const late = new AbortController();
  let timer: NodeJS.Timeout | undefined;
  let paused = 0;
  let ended = false;
  const begin = () => {
    clearTimeout(timer);
    if (paused === 0 && !ended) timer = setTimeout(() => late.abort(new Error("no answer in time")), ms);
  };
  begin();
  return {
    signal: AbortSignal.any([caller, late.signal]),
    begin,
    async pause(run) {
      paused++;
      clearTimeout(timer);
      try {
        return await run();
      } finally {
        paused--;
        begin();
      }
    },
    isOver: () => late.signal.aborted,
    end() {
      ended = true;
      clearTimeout(timer);
    },
  };
}
