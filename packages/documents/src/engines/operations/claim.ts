import type { Lease } from "../../api/lease.ts";
import { toStored } from "../../document/stored.ts";
import type { ParsedQuery } from "../../query/parse-query.ts";
import type { Layout } from "../layout.ts";
import type { Operation } from "../operation.ts";
import { findUnindexed, probe } from "./search.ts";

/** Claims documents that nobody holds a lease of. */
export function* claimDocuments<T>(
  layout: Layout,
  { query, expiry }: { readonly query: ParsedQuery; readonly expiry: number },
): Operation<readonly Lease<T>[]> {
  const now = Date.now();
  const until = now + expiry;
  const unindexed = yield* findUnindexed(layout, query.words);
  const { foundBy } = yield* probe(layout, { words: query.words }, { unindexed });
  const rows = yield* layout.claim({ query: { ...query, foundBy }, now, until });
  return rows.map((row) => ({
    document: toStored<T>(layout.definition.name, row),
    token: String(row[6]),
    until: new Date(until).toISOString(),
    attempt: Number(row[7]),
  }));
}
