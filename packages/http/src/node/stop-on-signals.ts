import { constants } from "node:os";

const stopSignals = ["SIGTERM", "SIGINT"] as const;

/**
 * Calls back on the first SIGTERM or SIGINT; the second ends the process with 128 and its number. Gives a function
 * that takes the listeners away.
 */
export function stopOnSignals(stop: () => void): () => void {
  let isStopping = false;
  const onSignal = (signal: (typeof stopSignals)[number]): void => {
    // An operator who asks twice does not want to wait, nor does an error thrown from here end the process so.
    // oxlint-disable-next-line unicorn/no-process-exit
    if (isStopping) process.exit(128 + constants.signals[signal]);
    isStopping = true;
    stop();
  };
  for (const signal of stopSignals) process.on(signal, onSignal);
  return () => {
    for (const signal of stopSignals) process.off(signal, onSignal);
  };
}
