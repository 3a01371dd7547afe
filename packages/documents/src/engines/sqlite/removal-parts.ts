import type { Operation, Row } from "../operation.ts";
import { removeAs } from "../operations/remove.ts";
import { readRemovalKeys, type Removal, removalTerms } from "../operations/removal.ts";
import { whereSql } from "../operations/where.ts";
import { tooSlow } from "./connection/budget.ts";
import type { SqliteLayout } from "./statements/layout.ts";

/** Documents of a part, which takes some 10 milliseconds. */
const partSize = 250;

/** What was removed at once, or what to remove in parts. */
export interface Begun {
  readonly count: number;
  readonly left: Removal | undefined;
}

/** Removes documents if they are few and found soon; otherwise none, and documents that are added later will stay. */
export function* beginRemoval(
  layout: SqliteLayout,
  removal: Removal,
  options: { readonly isTimed: boolean },
): Operation<Begun> {
  try {
    const rows = yield* readRemovalKeys(layout, removal, { ...options, limit: partSize + 1 });
    if (rows.length <= partSize) {
      return { count: yield* removeRows(layout, removal, rows), left: undefined };
    }
  } catch (error) {
    if (error !== tooSlow) throw error;
  }
  const last = `SELECT coalesce(max(seq), 0) FROM ${layout.quoted}`;
  const [lastKey = null] = (yield layout.begin().read(last)).rows[0] ?? [];
  return { count: 0, left: { ...removal, lastKey } };
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
