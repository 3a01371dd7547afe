import { quoteName } from "../../dialect.ts";
import type { BoundText, Result } from "../../operation.ts";
import { Analyzing } from "./analyzing.ts";
import { PendingEntries } from "./pending-entries.ts";

/** Does in time what the server does late, for tables that many documents were added to. */
export class Upkeep {
  readonly #analyzing: Analyzing;
  readonly #pendingEntries: PendingEntries;

  constructor(run: (statement: BoundText) => Promise<Result>) {
    this.#analyzing = new Analyzing(run);
    this.#pendingEntries = new PendingEntries(run);
  }

  /** Counts documents that were added to a collection, and returns what it is time for. */
  recordInserts(collection: string, count: number): readonly (() => Promise<void>)[] {
    const quoted = quoteName(collection);
    const due: (() => Promise<void>)[] = [];
    if (this.#analyzing.recordInserts(quoted, count)) {
      due.push(() => this.#analyzing.analyze(quoted));
    }
    if (this.#pendingEntries.recordInserts(quoted, count)) {
      due.push(() => this.#pendingEntries.move(quoted));
    }
    return due;
  }
}
