import type { Stored } from "../../api/document.ts";
import { parseJsonText } from "../../document/json-text.ts";
import type { Filter } from "../../query/filter.ts";
import type { Target } from "../../query/targets.ts";
import type { Layout } from "../layout.ts";
import type { Operation } from "../operation.ts";
import { changeDocument } from "./change.ts";
import { getDocument } from "./get.ts";
import { insertDocument } from "./insert.ts";
import { selectionTerms, whereSql } from "./where.ts";

const maxAttempts = 10;

/** A document to add, or what to make of the one that exists. */
export interface Upsert<T> {
  readonly id: string | undefined;
  /** Finds the document when there is no id. */
  readonly filter: Filter;
  /** JSON text of the document to add. */
  readonly text: string;
  readonly make: (stored: Stored<T>) => unknown;
}

/** Adds a document, or changes the one that exists, also when others do the same. */
export function* upsertDocument<T>(layout: Layout, upsert: Upsert<T>): Operation<Stored<T>> {
  const { id, filter, text } = upsert;
  for (let attempt = 1; ; attempt += 1) {
    const found = id ?? (yield* findByFields(layout, filter));
    if (found !== undefined) {
      const changed = yield* changeOrRestore(layout, found, upsert);
      if (changed !== undefined) return changed;
    }
    try {
      return yield* insertDocument<T>(layout, { id, text });
    } catch (error) {
      // Another process may have added it since it was looked for.
      if (!layout.isTaken(error) || attempt === maxAttempts) throw error;
      const now = id ?? (yield* findByFields(layout, filter));
      if (now === undefined) throw error;
      const isGone = id !== undefined && (yield* getDocument(layout, id)) === undefined;
      if (isGone) throw error;
    }
  }
}

/** Changes the document, or restores a removed one, whose content does not come back. */
function* changeOrRestore<T>(
  layout: Layout,
  id: string,
  { make, text }: Upsert<T>,
): Operation<Stored<T> | undefined> {
  const target: Target = { id, ifVersion: undefined };
  const changed = yield* changeDocument<T>(layout, target, { isUserCode: true, make });
  if (changed !== undefined || !layout.softDelete) return changed;
  return yield* changeDocument<T>(layout, target, {
    make: () => parseJsonText(text),
    restores: true,
  });
}

/** Finds the document that has the values of a unique index. */
function* findByFields(layout: Layout, filter: Filter): Operation<string | undefined> {
  const sql = layout.begin();
  const terms = selectionTerms(layout, { filter, words: [], deleted: "exclude" }, sql);
  const { rows } = yield sql.read(`SELECT id FROM ${layout.quoted}${whereSql(terms)} LIMIT 1`);
  const id = rows[0]?.[0];
  return typeof id === "string" ? id : undefined;
}
