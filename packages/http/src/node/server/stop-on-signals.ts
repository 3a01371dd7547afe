import { constants } from "node:os";

const stopSignals = ["SIGTERM", "SIGINT"] as const;

// Ctrl-C under npm: the terminal signals the whole group, and npm forwards the same signal
// milliseconds later.
const doubleTime = 500;

/**
 * Calls back on the first SIGTERM or SIGINT. A signal at least 500 ms later ends the process with
 * 128 plus its number; an earlier one counts as the same. Returns a function that removes the
 * listeners.
 */
export function stopOnSignals(stop: () => void): () => void {
  let first: number | undefined;
  const onSignal = (signal: (typeof stopSignals)[number]): void => {
    if (first === undefined) {
      first = performance.now();
      stop();
    } else if (performance.now() - first >= doubleTime) {
      // An operator who stops twice does not want to wait, and an error would end the process with
      // another code.
      // oxlint-disable-next-line unicorn/no-process-exit
      process.exit(128 + constants.signals[signal]);
    }
  };
  for (const signal of stopSignals) process.on(signal, onSignal);
  const forget = (): void => {
    for (const signal of stopSignals) process.off(signal, onSignal);
  };
  return () => {
    const left = first === undefined ? 0 : first + doubleTime - performance.now();
    // Without a listener the forwarded signal would end the process during the work that follows
    // the stop.
    if (left > 0) setTimeout(forget, left).unref();
    else forget();
  };
}
