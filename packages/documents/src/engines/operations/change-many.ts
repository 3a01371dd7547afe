import { VersionError } from "../../api/errors.ts";
import type { Filter } from "../../query/filter.ts";
import type { Target, TargetVersion } from "../../query/targets.ts";
import type { Layout } from "../layout.ts";
import { atomically, type Operation, type Row } from "../operation.ts";
import { changeDocument, type Modification } from "./change.ts";
import { selectionTerms, whereSql } from "./where.ts";

/** The documents to change, and what to make of each. */
export interface ManyModifications<T> {
  readonly filter: Filter;
  readonly modification: Modification<T>;
}

/** Changes those of some rows that a filter still selects, all or none; returns their number. */
export function changeRows<T>(
  layout: Layout,
  keys: readonly Row[number][],
  changes: ManyModifications<T>,
): Operation<number> {
  return atomically(() => changeEach(layout, keys, changes));
}

function* changeEach<T>(
  layout: Layout,
  keys: readonly Row[number][],
  { filter, modification }: ManyModifications<T>,
): Operation<number> {
  const sql = layout.begin();
  // The limit keeps an index of the filter from being searched. It would have all that match, and
  // not just these.
  const part = `(SELECT * FROM ${layout.quoted} WHERE ${sql.isRow(keys)}${sql.page(keys.length, 0)})`;
  const terms = selectionTerms(layout, { filter, words: [], deleted: "exclude" }, sql);
  // Everybody locks documents in this order.
  const { rows } = yield sql.read(
    `SELECT id, version, created_at FROM ${part} AS part${whereSql(terms)} ORDER BY id`,
  );
  let count = 0;
  for (const [id, ...version] of rows) {
    const found = { id: String(id), ifVersion: versionOf(version) };
    if (yield* changeSelected(layout, found, { filter, modification })) count += 1;
  }
  return count;
}

/** Changes a document while the filter selects it, also when others change it. */
function* changeSelected<T>(
  layout: Layout,
  found: Target,
  { filter, modification }: ManyModifications<T>,
): Operation<boolean> {
  const { id } = found;
  let { ifVersion } = found;
  while (ifVersion !== undefined) {
    try {
      return (yield* changeDocument<T>(layout, { id, ifVersion }, modification)) !== undefined;
    } catch (error) {
      if (!(error instanceof VersionError)) throw error;
    }
    const sql = layout.begin();
    const terms = [`id = ${sql.bind(id, "text")}`];
    terms.push(...selectionTerms(layout, { filter, words: [], deleted: "exclude" }, sql));
    const { rows } = yield sql.read(
      `SELECT version, created_at FROM ${layout.quoted}${whereSql(terms)}`,
    );
    ifVersion = rows[0] && versionOf(rows[0]);
  }
  return false;
}

function versionOf([version, createdAt]: Row): TargetVersion {
  return { version: Number(version), createdAt: String(createdAt) };
}
