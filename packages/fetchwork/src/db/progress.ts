import type { CommandIo } from "../command/command-io.ts";
import { jsonLine, oneLine } from "../command/terminal-text.ts";
import { documentCount } from "./document-count.ts";

/** The option that makes a command and its progress print JSON. */
export const jsonOption = {
  json: {
    type: "boolean",
    description: "Print the result as JSON and progress as lines of JSON",
  },
} as const;

/** Reports the progress of a command. */
export interface Progress {
  /** Counts documents of a collection. */
  readonly add: (collection: string, documents: number) => void;
  /** Ends the bar. */
  readonly end: () => void;
}

const WIDTH = 30;
/** Milliseconds between two states of the bar, and between two lines where there is none. */
const BAR_INTERVAL = 50;
const LINE_INTERVAL = 5000;
const COLUMNS = 80;
const CLEAR = "\u001b[K";

/**
 * Shows progress on standard error: a bar where a person reads it, lines of JSON with `--json`, and
 * elsewhere, such as in a log, a line every five seconds.
 */
export function createProgress(
  io: CommandIo,
  { of, asJson }: { readonly of: number; readonly asJson: boolean },
): Progress {
  const { isTerminal } = io.stderr;
  const interval = isTerminal ? BAR_INTERVAL : LINE_INTERVAL;
  let documents = 0;
  // A command that ends at once needs no progress line.
  let shownAt = isTerminal ? -Infinity : performance.now();
  const show = (collection: string): void => {
    shownAt = performance.now();
    if (asJson) {
      io.stderr.write(jsonLine({ collection, documents, of }));
      return;
    }
    const state = `${percent(documents, of)} ${documentCount(documents)} ${oneLine(collection)}`;
    if (!isTerminal) {
      io.stderr.write(`${state.trimStart()}\n`);
      return;
    }
    // A line that the terminal breaks could not be written over, and some break a full one.
    const room = (io.stderr.columns ?? COLUMNS) - 1;
    const width = Math.max(0, Math.min(WIDTH, room - state.length - "[]".length));
    const line = width === 0 ? state : `${bar(documents, { of, width })}${state}`;
    io.stderr.write(`\r${line.slice(0, Math.max(room, 0))}${CLEAR}`);
  };
  return {
    add(collection, added) {
      documents += added;
      if (asJson || performance.now() - shownAt >= interval) show(collection);
    },
    end() {
      if (!asJson && isTerminal) io.stderr.write(`\r${CLEAR}`);
    },
  };
}

/** Soft-deleted documents are not in the store's count. */
function partOf(documents: number, of: number): number {
  return of === 0 ? 1 : Math.min(1, documents / of);
}

function percent(documents: number, of: number): string {
  return `${Math.trunc(partOf(documents, of) * 100)}%`.padStart(4);
}

function bar(
  documents: number,
  { of, width }: { readonly of: number; readonly width: number },
): string {
  const filled = Math.round(partOf(documents, of) * width);
  return `[${"#".repeat(filled)}${"-".repeat(width - filled)}]`;
}
