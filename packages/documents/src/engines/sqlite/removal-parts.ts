import type { Operation, Row } from "../operation.ts";
import { removeAs } from "../operations/remove.ts";
import { readRemovalKeys, type Removal, removalTerms } from "../operations/removal.ts";
import { whereSql } from "../operations/where.ts";
import { tooSlow } from "./connection/budget.ts";
import type { SqliteLayout } from "./statements/layout.ts";

/** Documents of a part, which takes some 10 milliseconds. */
const partSize = 250;

/** Removes documents if they are few and found soon, and returns their number; otherwise nothing and undefined. */
export function* removeFew(
  layout: SqliteLayout,
  removal: Removal,
  options: { readonly isTimed: boolean },
): Operation<number | undefined> {
  try {
    const rows = yield* readRemovalKeys(layout, removal, { ...options, limit: partSize + 1 });
    return rows.length > partSize ? undefined : yield* removeRows(layout, removal, rows);
  } catch (error) {
    if (error === tooSlow) return undefined;
    throw error;
  }
}

/** Splits the keys of documents to remove into parts, so that other work is done in between. */
export function* removalParts(
  keys: readonly Row[number][],
): Generator<readonly Row[number][], void, void> {
  for (let first = 0; first < keys.length; first += partSize) {
    yield keys.slice(first, first + partSize);
  }
}

/** Removes those of some documents that a removal still selects; returns their number. */
export function* removePart(
  layout: SqliteLayout,
  removal: Removal,
  keys: readonly Row[number][],
): Operation<number> {
  const sql = layout.begin();
  const terms = [sql.isRow(keys), ...removalTerms(layout, removal, sql)];
  // An index of a filter would have all that match, and not just these.
  const { rows } = yield sql.read(`SELECT seq FROM ${layout.quoted} NOT INDEXED${whereSql(terms)}`);
  return yield* removeRows(layout, removal, rows);
}

/** Nobody else writes while an operation runs, so the rows are still those that were read. */
function* removeRows(
  layout: SqliteLayout,
  { kind }: Removal,
  rows: readonly Row[],
): Operation<number> {
  if (rows.length === 0) return 0;
  const sql = layout.begin();
  const keys = rows.map(([seq = null]) => seq);
  return yield* removeAs(kind, layout, { sql, terms: [sql.isRow(keys)] });
}
