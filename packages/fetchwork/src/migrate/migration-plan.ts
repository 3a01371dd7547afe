/** Why documents do not fit the models. */
export type BreakKind =
  "missing" | "narrowed" | "relation" | "rename" | "split" | "type" | "unique";

/** Documents that do not fit the models, all for the same reason. */
export interface Break {
  readonly kind: BreakKind;
  readonly collection: string;
  /** Path of the field, of the new one for `rename`; fields of a unique index are joined by ", ". */
  readonly field: string;
  /** The field that has the values, for `rename` and `split`. */
  readonly from?: string | undefined;
  /** The fields that the values belong into, for `split`. */
  readonly to?: readonly string[] | undefined;
  /** How many documents. */
  readonly documents: number;
  /** Up to three of them. */
  readonly ids: readonly string[];
  /** What the model asks for, in words. */
  readonly expected: string;
}

/** An index or a search that the next start builds. */
export interface Build {
  readonly kind: "geo" | "index" | "search";
  readonly collection: string;
  readonly fields: readonly string[];
  /** How many documents are read for it. */
  readonly documents: number;
  /** `long` from 50,000 documents on. */
  readonly cost: "cheap" | "long";
}

/** What a store lacks for the models of a program. */
export interface MigrationPlan {
  /** How many documents were read. */
  readonly documents: number;
  readonly breaks: readonly Break[];
  readonly builds: readonly Build[];
}

/** Documents that share something: their number, and the ids of the first. */
export class Affected {
  documents = 0;
  readonly ids: string[] = [];

  add(id: string): void {
    this.documents += 1;
    if (this.ids.length < 3) this.ids.push(id);
  }

  /** What is public of it. */
  get result(): Pick<Break, "documents" | "ids"> {
    return { documents: this.documents, ids: this.ids };
  }
}
