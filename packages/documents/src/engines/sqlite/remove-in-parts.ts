import type { Access } from "../engine.ts";
import type { Operation, Row } from "../operation.ts";
import { removeAs } from "../operations/remove.ts";
import { readRemovalKeys, type Removal, removalTerms } from "../operations/removal.ts";
import { whereSql } from "../operations/where.ts";
import { type Budget, tooSlow } from "./connection/budget.ts";
import type { SqliteLayout } from "./statements/layout.ts";

/** Documents of a part, which takes some 10 milliseconds. */
const partSize = 250;

/**
 * Removes documents and returns their number. Many are looked for first, in another thread when
 * that takes long, and removed in parts: other work comes in between. Documents that changed after
 * they were found are removed if they are still selected. `budget` says for how long reads may hold
 * up the event loop.
 */
export async function removeInParts(
  access: Pick<Access, "find" | "write">,
  {
    layout,
    removal,
    budget,
  }: {
    readonly layout: SqliteLayout;
    readonly removal: Removal;
    readonly budget: Budget | undefined;
  },
): Promise<number> {
  const begun = await access.write(layout, () => beginRemoval(layout, removal, budget));
  if (typeof begun === "number") return begun;
  const { items: keys } = await access.find(layout, { removal: begun }, keyOf);
  let count = 0;
  for (let first = 0; first < keys.length; first += partSize) {
    const part = keys.slice(first, first + partSize);
    count += await access.write(layout, () => removePart(layout, removal, part));
  }
  return count;
}

/**
 * Removes documents if they are few and found soon, and returns their number; otherwise none, and
 * returns what to remove in parts: documents that are added later will stay.
 */
function* beginRemoval(
  layout: SqliteLayout,
  removal: Removal,
  budget: Budget | undefined,
): Operation<Removal | number> {
  let rows: readonly Row[] | undefined;
  try {
    budget?.begin();
    rows = yield* readRemovalKeys(layout, removal, partSize + 1);
  } catch (error) {
    if (error !== tooSlow) throw error;
  } finally {
    budget?.end();
  }
  if (rows !== undefined && rows.length <= partSize) {
    return yield* removeRows(layout, removal, rows);
  }
  const last = `SELECT coalesce(max(seq), 0) FROM ${layout.quoted}`;
  const [lastKey = null] = (yield layout.begin().read(last)).rows[0] ?? [];
  return { ...removal, lastKey };
}

/** Removes those of some documents that a removal still selects; returns their number. */
function* removePart(
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
  return yield* removeAs(kind, layout, { sql, terms: [sql.isRow(rows.map(keyOf))] });
}

function keyOf([key = null]: Row): Row[number] {
  return key;
}
