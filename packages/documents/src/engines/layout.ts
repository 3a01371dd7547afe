import type { ChangeKind } from "../api/changes.ts";
import type { CollectionDefinition } from "../api/definition.ts";
import type { Stored } from "../api/document.ts";
import { type ParsedPath, parsePath } from "../api/field-path.ts";
import { createExpiry } from "../document/expiry.ts";
import type { Stamps } from "../document/stamps.ts";
import type { ParsedNear } from "../geo/near.ts";
import type { TargetVersion } from "../query/targets.ts";
import type { ContainsFilter, Filter } from "../query/filter.ts";
import type { Part, SortValue } from "../query/keyset.ts";
import type { OrderTerm, ParsedQuery, ParsedSelection } from "../query/parse-query.ts";
import { type Dialect, quoteName, type StatementUse } from "./dialect.ts";
import type { Operation, Result, Row, Statement } from "./operation.ts";
import type { Summarizing } from "./summarizing.ts";

/** Facts of a collection that every engine needs. */
export class Table {
  readonly definition: CollectionDefinition<unknown>;
  /** Name of the table, quoted. */
  readonly quoted: string;
  /** Fields that have an index. */
  readonly indexed: ReadonlySet<string>;
  /** Fields whose lists have an index of their members: those that an index names alone. */
  readonly listIndexed: ReadonlySet<string>;
  /** Fields that hold places. */
  readonly geoPaths: readonly ParsedPath[];
  /** Whether removed documents are kept until they are purged. */
  readonly softDelete: boolean;
  /** Top-level fields that documents may not have, besides those that the store always keeps. */
  readonly reserved: ReadonlySet<string>;
  /** Computes when a document expires, in collections where any does. */
  readonly expiresAt: ((stored: unknown) => number | null) | undefined;

  constructor(definition: CollectionDefinition<unknown>) {
    const { name, unique, indexes, geo = [], softDelete = false, expires } = definition;
    this.definition = definition;
    this.quoted = quoteName(name);
    this.indexed = new Set([...unique, ...indexes].flat());
    this.listIndexed = new Set(indexes.flatMap((fields) => (hasMembers(fields) ? fields : [])));
    this.geoPaths = geo.map((field) => parsePath(field));
    this.softDelete = softDelete;
    this.reserved = new Set(softDelete ? ["deletedAt"] : []);
    this.expiresAt = expires === undefined ? undefined : createExpiry(expires);
  }
}

/** Whether an index of these fields has the members of lists too. */
export function hasMembers(fields: readonly string[]): boolean {
  return fields.length === 1 && fields.every((field) => parsePath(field).meta === undefined);
}

/** A row to add. */
export interface NewRow {
  readonly id: string;
  readonly version: number;
  readonly createdAt: string;
  readonly updatedAt: string;
  readonly deletedAt: string | null;
  /** JSON text of the document's own fields. */
  readonly text: string;
  readonly stored: Stored<object>;
}

/** Record for the change feed. */
export interface Recording {
  readonly kind: ChangeKind;
  /** Time of the change. */
  readonly at: string;
}

/** A document before and after a change. */
export interface RowChange {
  /** Key of the row, a value of {@link Layout.key}. */
  readonly key: Row[number];
  /** Reads the document as it was: the object that a caller got may be changed. */
  readonly before: () => Stored<object>;
  readonly after: Stored<object>;
  /** JSON text of the document's own fields. */
  readonly text: string;
  /** Token of the lease that must be held. Default: none. */
  readonly lease: string | undefined;
}

/** A statement's condition, and the writer that holds its values. */
export interface Condition {
  readonly sql: Dialect;
  /** Terms to be joined by AND; at least one. */
  readonly terms: readonly string[];
  /** Default: `"once"`. */
  readonly use?: StatementUse;
}

/** An index that the definition asks for. */
export interface Index {
  readonly name: string;
  /** Fields that the definition names; none for what the store itself needs. */
  readonly fields: readonly string[];
}

/**
 * How words or members of lists are looked for: in their index, or in each document that is found
 * otherwise. Where it is known which documents have them, these are looked up: `keys` are all that
 * have what was looked for; the rest of the selection is checked of them. `unindexed` are those
 * that the index does not have.
 */
export type FoundBy =
  | "document"
  | "index"
  | { readonly keys: readonly Row[number][]; readonly of: Lookup }
  | { readonly unindexed: readonly Row[number][] };

/** Selection of a statement: documents, after a place in an order. */
export interface Selected extends Pick<ParsedSelection, "deleted" | "filter" | "words"> {
  readonly part?: Part | undefined;
  /** Required members of lists; `foundBy: "index"` looks up the first. Default: none. */
  readonly members?: readonly ContainsFilter[] | undefined;
  /** Conditions that an index of values finds, where the store decides. Default: none. */
  readonly conditions?: readonly ConditionLookup[] | undefined;
  /** Conditions that hold for a whole index of values that is walked. Default: none. */
  readonly walked?: Filter | undefined;
  /** Default: `"index"`. */
  readonly foundBy?: FoundBy | undefined;
}

/** The documents to claim, and until when. */
export interface Claiming {
  readonly query: ParsedQuery & Selected;
  /** Milliseconds since 1970. */
  readonly now: number;
  /** End of the leases, milliseconds since 1970. */
  readonly until: number;
}

/** A lease of a document. */
export interface Held {
  readonly id: string;
  readonly token: string;
}

/** A search by distance. */
export interface NearSearch {
  readonly near: ParsedNear;
  readonly selection: Selected;
  /** Greatest distance of this attempt, as the square of a chord. */
  readonly reach: number;
  readonly after?: readonly SortValue[] | undefined;
}

/** Conditions that one index of values finds: equal fields, and the one after them. */
export interface ConditionLookup {
  readonly kind: "conditions";
  readonly filters: readonly Filter[];
}

/** Conditions by which an index finds documents. */
export type Lookup =
  ConditionLookup | ContainsFilter | { readonly kind: "words"; readonly words: readonly string[] };

/** See {@link Searching.probePage}. */
type ProbePage = (
  lookup: Lookup,
  limit: number,
  page: { readonly maxHits: number; readonly rest: (sql: Dialect) => string },
) => Statement;

/** How documents are found by words, or by members of lists. */
export interface Searching {
  /** Whether the store chooses the index of values: the engine's planner knows no numbers. */
  readonly findsConditions: boolean;
  /** Whether `probe` and `count` count exactly the documents that were not removed. */
  readonly probesVisible: boolean;
  /**
   * Counts, among the latest documents, those that have all words, and those that have each of
   * their parts; where the engine does not look at such a sample itself.
   */
  sample?(words: readonly string[]): Statement;
  /**
   * Counts the rows that have all words, one of the members or the conditions, up to `limit`.
   * Returns NULL where a sample shows that they are many and counting them would take long. Where
   * the engine has them at hand, the second column is the list of keys, as JSON.
   */
  probe(lookup: Lookup, limit: number): Statement;
  /**
   * Does what `probe` does and returns it in the first row, and in the next ones a page, as
   * `Layout.packed`, if there are at most `most` such rows; where one statement can do both. `rest`
   * writes what follows the FROM of the page.
   */
  readonly probePage?: ProbePage | undefined;
  /** Counts the same, up to `limit`, and returns NULL in the same case. */
  count(lookup: Lookup, limit: number | undefined): Statement;
  /** Whether all rows of `inOrder` are read, not only until the outer statement has enough. */
  readonly walksWhole: boolean;
  /** Writes what follows FROM for rows of a SELECT, from WHERE on; keeps their order. */
  inOrder(rest: string): string;
  /**
   * Writes what follows FROM for the rows that a WHERE clause finds, and not an order. If
   * their keys are known, no index finds them either.
   */
  apart(where: string, foundBy: FoundBy): string;
}

/** How places are stored and found. */
export interface GeoLayout {
  /** Reads x, y and z of documents next to a cell of the index, `size` in each direction. */
  sample(field: number, cell: number, size: number): readonly Statement[];
  /** Reads the columns of documents, and the square of the distance as the last one. */
  select(search: NearSearch, limit: number | undefined, offset: number): Statement;
  /** Counts documents, up to `max`. */
  count(search: NearSearch, max: number | undefined): Statement;
}

/** How the documents of a collection are stored in tables, and how they change. */
export interface Layout extends Table {
  readonly stamps: Stamps;
  /** Columns that `toStored` takes. */
  readonly columns: string;
  /** Writes a SELECT of columns in a form that reads many rows faster, if there is one. */
  packed?(select: string): string;
  /**
   * A SELECT of the columns and the time at which a document expires, up to the condition. Whether
   * a document can be seen is checked afterwards: with that condition a server that has no
   * statistics yet would rather use an index of all documents that can.
   */
  readonly selectRows: string;
  /** Column that identifies a row. */
  readonly key: string;
  /** Whether rows of removed documents may exist, so that they have to be left out. */
  readonly hasRemoved: boolean;
  /** Whether an index serves a comparison of rows of keys. */
  readonly comparesRows: boolean;
  /** Clause that locks the read row until the end of the transaction. */
  readonly rowLock: string;
  readonly searching: Searching;
  readonly geo: GeoLayout;
  readonly summarizing: Summarizing;
  /** Indexes that the definition asks for. */
  readonly indexes: readonly Index[];

  /** Begins a statement; one that `isShort` needs no limit of its time. */
  begin(options?: { readonly isShort?: boolean }): Dialect;
  /** Reads a row of `selectRows`, the one with this id. */
  readById(id: string): Statement;
  /** Whether an error reports that a unique value or the id is taken. */
  isTaken(error: unknown): boolean;

  /** Adds rows, all or none; records it unless `recording` is undefined. */
  insert(rows: readonly NewRow[], recording: Recording | undefined): Operation<void>;
  /** Replaces a row of the version before; returns the number of rows: 0 when it was overtaken. */
  update(change: RowChange, recording: Recording): Operation<number>;
  /** Marks rows as removed; returns their number. */
  markRemoved(condition: Condition, recording: Recording): Operation<number>;
  /** Deletes rows and what belongs to them; returns their number. */
  remove(condition: Condition, recording: Recording): Operation<number>;
  /**
   * Merges fields into a document by one statement and returns its columns; no row when none
   * matched. Undefined where the engine cannot, or not these fields.
   */
  merge?(merging: Merging): Operation<Result> | undefined;
  /** Statement that reads the number of documents, -1 while unknown, from a table. */
  readTotal?(): Statement | undefined;

  /** Claims documents; returns their columns, the token and the attempt. */
  claim(claiming: Claiming): Operation<readonly Row[]>;
  /** Extends a lease that is held. */
  renew(held: Held, until: number): Operation<boolean>;
  /** Ends a lease that is held. */
  release(held: Held): Operation<boolean>;
  /** The condition that the lease of a row is held. */
  isHeld(token: string, sql: Dialect): string;

  /**
   * Finds the keys of documents with the words that a search would miss. They have no search texts,
   * or have them where a search does not look. Comes before each search.
   */
  findUnindexed(words: readonly string[]): Operation<readonly Row[number][]>;

  /** Values that a document is sorted by, where they are not those of its fields. */
  sortValues?(
    stored: Stored<unknown>,
    order: readonly OrderTerm[],
  ): Operation<readonly SortValue[]>;
  /** Reads what search texts are derived, as the registry has it, with whether all of them are. */
  generations(): Operation<ReadonlyMap<string, boolean>>;
  /** Reads the names of the indexes, with whether each is complete. */
  builtIndexes(): Operation<ReadonlyMap<string, boolean>>;
  /** The fields of an index of ours from its name; undefined for an index of somebody else. */
  fieldsOfIndex(name: string): readonly string[] | undefined;
}

/** Fields to set and to remove in one document. */
export interface Merging {
  readonly id: string;
  readonly ifVersion: TargetVersion | undefined;
  readonly lease?: string | undefined;
  /** JSON text of the fields to set. */
  readonly text: string;
  readonly names: readonly string[];
  readonly removed: readonly string[];
  readonly at: string;
  /** Size of the JSON text from which on a document is not merged without reading it. */
  readonly maxBytes: number;
}
