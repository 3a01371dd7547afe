import { constants } from "node:os";

const stopSignals = ["SIGTERM", "SIGINT"] as const;

// Ctrl-C under npm: the terminal signals the whole group, and npm forwards the same signal milliseconds later.
const doubleTime = 500;

/**
 * Calls back on the first SIGTERM or SIGINT; another at least 500 ms later ends the process with 128 and its number.
 * What comes sooner is taken for the same signal. Gives a function that takes the listeners away.
 */
export function stopOnSignals(stop: () => void): () => void {
  let first: number | undefined;
  const onSignal = (signal: (typeof stopSignals)[number]): void => {
    if (first === undefined) {
      first = performance.now();
      stop();
    } else if (performance.now() - first >= doubleTime) {
      // An operator who asks twice does not want to wait, nor does an error thrown from here end the process so.
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
    // Without a listener the forwarded signal would end the process in the midst of what follows the stop.
    if (left > 0) setTimeout(forget, left).unref();
    else forget();
  };
}
