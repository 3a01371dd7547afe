import { DocumentsError } from "../../../api/errors.ts";
import type { Connection } from "./connection.ts";

/** The name of the function in SQL that looks at the clock. */
const tickFunction = "fetchwork_tick";
/** The time for which a read may hold up the event loop, in milliseconds. */
const maxMilliseconds = 5;
/** Rows below which a slow read means a busy machine; it then has the time that follows. */
const manyRows = 1000;
const millisecondsOfFew = 50;
const rowsPerLook = 16;
/** For so long a statement that took too long is not tried again, in milliseconds. */
const slowMemory = 10_000;
const maxRemembered = 128;

/** Says that a read took too long for this thread; it changed nothing and can be done elsewhere. */
export const tooSlow: Error = new DocumentsError("ERR_DOCUMENTS_ENGINE", "the read takes too long");

/** Whether the time of the statements that are written now is limited. */
export interface Timing {
  readonly isTimed: boolean;
}

/**
 * Ends reads that hold up the event loop.
 *
 * SQLite asks a function for each row that it looks at, part of the result or not. So what counts
 * is the real cost of a read, and not what its plan says.
 */
export class Budget implements Timing {
  readonly #slow = new Map<string, number>();
  #began = Infinity;
  #rows = 0;
  #text = "";

  get isTimed(): boolean {
    return this.#began < Infinity;
  }

  /** Creates the function on a connection. */
  attach(connection: Connection): void {
    connection.use((database) => {
      database.function?.(tickFunction, { directOnly: true, varargs: true }, () => {
        this.#rows += 1;
        // The clock costs as much as a row.
        if (this.#rows % rowsPerLook === 0) this.#look(performance.now());
        return 1;
      });
    });
  }

  /** Begins the time of one read, which may be of several statements and ends at once. */
  begin(): void {
    this.#began = performance.now();
    this.#rows = 0;
    this.#text = "";
  }

  /** Ends the time of a read. */
  end(): void {
    this.#began = Infinity;
  }

  /** Rejects a read that took too long a moment ago. */
  check(text: string): void {
    this.#text = text;
    const at = this.#slow.size === 0 ? undefined : this.#slow.get(text);
    if (at === undefined) return;
    if (performance.now() - at < slowMemory) throw tooSlow;
    this.#slow.delete(text);
  }

  #look(now: number): void {
    const limit = this.#rows < manyRows ? millisecondsOfFew : maxMilliseconds;
    if (now - this.#began <= limit) return;
    // A read that was slow because the machine is busy may be fast the next time.
    if (this.#rows < manyRows) throw tooSlow;
    const [oldest] = this.#slow.size < maxRemembered ? [] : this.#slow.keys();
    if (oldest !== undefined) this.#slow.delete(oldest);
    this.#slow.set(this.#text, now);
    throw tooSlow;
  }
}

/** Writes the term that counts a row, by a column of it: else it would be asked once for all. */
export function tickSql(column: string): string {
  return `${tickFunction}(${column})`;
}
