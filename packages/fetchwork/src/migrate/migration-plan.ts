/** Documents that do not fit the models, all for the same reason. */
export interface Break {
  readonly kind: "missing" | "narrowed" | "relation" | "rename" | "split" | "type" | "unique";
  readonly collection: string;
  /** Path of the field; several are joined by ", ". For `rename` and `split` the new ones. */
  readonly field: string;
  /** How many documents. */
  readonly documents: number;
  /** Up to three of them. */
  readonly ids: readonly string[];
  /** Demand of the model, in words. */
  readonly expected: string;
}

/** Documents with values in a field that the model does not name. */
export interface Rename extends Break {
  readonly kind: "rename" | "split";
  /** The field that has the values. */
  readonly from: string;
  /** The fields that the values belong into. */
  readonly to: readonly string[];
}

/** An index or a search that the next start builds. */
export interface Build {
  /** `geo`, `index` or `search`. */
  readonly kind: string;
  readonly collection: string;
  readonly fields: readonly string[];
  /** How many documents are read for it. */
  readonly documents: number;
  /** `long` from 50,000 documents on. */
  readonly cost: "cheap" | "long";
}

/** Differences of a store from the models of a program. */
export interface MigrationPlan {
  /** How many documents were read. */
  readonly documents: number;
  readonly breaks: readonly Break[];
  readonly builds: readonly Build[];
}

/** Counts one more document, and keeps the ids of the first three. */
export function withDocument<T extends Pick<Break, "documents" | "ids">>(
  counted: T,
  id: string,
): T {
  const { documents, ids } = counted;
  return { ...counted, documents: documents + 1, ids: ids.length < 3 ? [...ids, id] : ids };
}
