import { onWorkers } from "../runtime/platform.ts";

/** Receives whole lines, each with its line break; several at a time. */
export type LogSink = (lines: string) => void;

// A longer batch is written in parts, so that it does not grow in memory.
const largestBatch = 65_536;

/**
 * Collects the lines of one turn of the event loop and passes them to the sink together. Writing
 * costs more than formatting.
 */
export function batchLines(sink: LogSink): (line: string) => void {
  let batch = "";
  const flush = (): void => {
    const lines = batch;
    batch = "";
    if (lines === "") return;
    writeSafely(() => sink(lines));
  };
  const later = laterInThisTurn();
  return (line) => {
    if (batch === "") later(flush);
    batch += `${line}\n`;
    if (batch.length > largestBatch) flush();
  };
}

/** Writes to a log. An error goes to the standard error, and does not fail the request. */
export function writeSafely(write: () => unknown): void {
  try {
    const written = write();
    if (written instanceof Promise) written.catch((error: unknown) => console.error(error));
  } catch (error) {
    console.error(error);
  }
}

/** Writes lines to the standard output. */
export function writeToConsole(lines: string): void {
  // One argument, so nothing in it is taken for a format. The console is the one output that all
  // runtimes have.
  // oxlint-disable-next-line no-console
  console.log(lines.slice(0, -1));
}

function laterInThisTurn(): (callback: () => void) => void {
  // A timer ends with its request, and the lines would never be written.
  if (onWorkers()) return (callback) => queueMicrotask(callback);
  const { setImmediate } = globalThis as {
    readonly setImmediate?: (callback: () => void) => unknown;
  };
  return setImmediate ?? ((callback) => setTimeout(callback, 0));
}
