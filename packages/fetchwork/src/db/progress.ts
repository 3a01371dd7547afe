import type { CommandIo } from "../command-io.ts";

/** Says how far a command came. */
export interface Progress {
  /** Counts documents of a collection. */
  add(collection: string, documents: number): void;
  /** Ends the bar. */
  end(): void;
}

const WIDTH = 30;
const INTERVAL = 50;

/**
 * Shows progress on standard error: a bar where a person reads it, lines of JSON with `--json`, and
 * nothing elsewhere.
 */
export function createProgress(
  io: CommandIo,
  { of, asJson }: { readonly of: number; readonly asJson: boolean },
): Progress {
  let documents = 0;
  let shownAt = -Infinity;
  const show = (collection: string): void => {
    shownAt = performance.now();
    if (asJson) io.stderr.write(`${JSON.stringify({ collection, documents, of })}\n`);
    else if (io.stderr.isTerminal) io.stderr.write(`\r${bar(documents, of)} ${collection}\u001b[K`);
  };
  return {
    add(collection, added) {
      documents += added;
      if (asJson || performance.now() - shownAt >= INTERVAL) show(collection);
    },
    end() {
      if (!asJson && io.stderr.isTerminal) io.stderr.write("\r\u001b[K");
    },
  };
}

function bar(documents: number, of: number): string {
  // Removed documents that are kept are not in the count of the store.
  const part = of === 0 ? 1 : Math.min(1, documents / of);
  const filled = Math.round(part * WIDTH);
  const percent = `${Math.trunc(part * 100)}%`.padStart(4);
  return `[${"#".repeat(filled)}${"-".repeat(WIDTH - filled)}]${percent} ${documents} documents`;
}
