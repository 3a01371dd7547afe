/** A value that is bound to a statement. */
export type Value = number | string | null | readonly (number | string | null)[];

/** The columns of a row, as the engine returned them. */
export type Row = readonly (number | string | null)[];

/** Result of a statement. */
export interface Result {
  readonly rows: readonly Row[];
  /** Number of rows that were read or changed. */
  readonly count: number;
  /** Number of the row that an `insert` added, in engines that number rows. */
  readonly rowId?: number | undefined;
}

/** A text of SQL and the values that are bound to it. */
export interface BoundText {
  readonly text: string;
  readonly values: readonly Value[];
  /** Name under which the server keeps the statement prepared. Default: it is not kept. */
  readonly name?: string | undefined;
}

/** A statement that reads, that changes rows, or that adds one row. */
export interface Statement extends BoundText {
  readonly kind: "insert" | "read" | "write";
}

/** One thing that an operation asks the engine to do. */
export type Step =
  | Statement
  /** Runs another operation, of which nothing takes effect when it throws. */
  | { readonly kind: "atomic"; readonly work: () => Operation<void> }
  /** Runs another operation just before the commit of the transaction. */
  | { readonly kind: "beforeCommit"; readonly work: () => Operation<void> }
  /** Reports documents that were added to a collection, or removed from it (negative). */
  | { readonly kind: "added"; readonly collection: string; readonly count: number }
  /** Reports that records were written to the change feed. */
  | { readonly kind: "recorded" }
  /** Asks for the number of documents of a collection; -1 where it is not kept. */
  | {
      readonly kind: "total";
      readonly collection: string;
      /** Reads the number, where the engine keeps it in a table. */
      readonly statement?: Statement | undefined;
    };

/**
 * Work on the store, as a generator that yields the steps and is resumed with their
 * results. So it is written once: SQLite runs the steps at once, PostgreSQL awaits each.
 */
export type Operation<R> = Generator<Step, R, Result>;

/** Result of a step that returns nothing. */
export const noResult: Result = { rows: [], count: 0 };

/** Runs an operation as a whole: when it throws, none of its statements takes effect. */
export function* atomically<R>(work: () => Operation<R>): Operation<R> {
  const results: R[] = [];
  yield {
    kind: "atomic",
    *work() {
      // A transaction that is retried runs the work again.
      results[0] = yield* work();
    },
  };
  const [result] = results;
  // The engine ran the work, so there is a result; R may include undefined.
  return result as R;
}
