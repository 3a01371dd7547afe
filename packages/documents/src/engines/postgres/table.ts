import { createHash } from "node:crypto";
import type { CollectionDefinition } from "../../api/definition.ts";
import { type ParsedPath, parsePath } from "../../api/field-path.ts";
import { createExpiry } from "../../document/expiry.ts";
import { type ClaimedFields, claimedFields } from "./claims.ts";
import { geoPart } from "./geo-column.ts";
import { expandKeys, type KeyForm, keyOf, orderSql, quoteName } from "./sql.ts";

/** An index of a collection's table. */
export interface Index {
  readonly name: string;
  readonly isUnique: boolean;
  /** The fields; empty for what the store itself needs. */
  readonly fields: readonly string[];
  /** What stands between the parentheses. */
  readonly columns: string;
  /** What stands there, one after the other, when that is more than the server can note. */
  readonly shorter?: readonly string[];
}

/** A statement without its values. */
export interface PreparedStatement {
  readonly text: string;
  /** Set when the server shall keep the statement prepared. */
  readonly name: string | undefined;
}

/** The table of a collection. */
export interface Table {
  /** What the collection was defined as. */
  readonly definition: CollectionDefinition<unknown>;
  /** The name of the table, quoted. */
  readonly quoted: string;
  /** Begins the names of prepared statements. */
  readonly hash: string;
  /** The statements that servers keep prepared, by their drafts. */
  readonly statements: Map<string, PreparedStatement>;
  /** The name of the constraint that keeps ids unique. */
  readonly idConstraint: string;
  /** The name of the index of search texts. */
  readonly searchIndex: string;
  /** The indexes that the definition asks for. */
  readonly indexes: readonly Index[];
  /** The fields of each unique index and constraint, by its name. */
  readonly fieldsOfConstraint: ReadonlyMap<string, readonly string[]>;
  /** The fields that an index holds. */
  readonly indexed: ReadonlySet<string>;
  /** The fields that the search text holds. */
  readonly searchPaths: readonly ParsedPath[];
  /** The fields that hold places. */
  readonly geoPaths: readonly ParsedPath[];
  /** Whether the tables may be spread over servers, so that no index but that of ids is unique. */
  readonly isDistributed: boolean;
  /** How the keys of numbers are made. */
  readonly keyForm: KeyForm;
  /** The fields that are unique through the table of claims. */
  readonly claimed: readonly ClaimedFields[];
  /** Whether removed documents are kept. */
  readonly softDelete: boolean;
  /** Top-level fields that documents of this collection may not have, besides the usual ones. */
  readonly reserved: ReadonlySet<string>;
  /** Tells when a document expires, in collections where any does. */
  readonly expiresAt: ((stored: unknown) => number | null) | undefined;
}

/** Raised when the expressions of indexes change, so that they are built anew. */
const INDEX_VERSION = { bits: 1, digits: 3 };
const MAX_STATEMENTS = 64;
const MAX_STATEMENT_LENGTH = 4096;

/** Describes the table of a collection. */
export function createTable(
  definition: CollectionDefinition<unknown>,
  { isDistributed }: { readonly isDistributed: boolean } = { isDistributed: false },
): Table {
  const { name, unique, indexes, search, geo = [], softDelete = false, expires } = definition;
  const keyForm = isDistributed ? "digits" : "bits";
  const all = [
    ownIndex(name, { kind: "created", columns: "created_at, id" }),
    ...(expires === undefined ? [] : [ownIndex(name, { kind: "expires", columns: "expires_at" })]),
    ...(isDistributed ? [] : unique.map((fields) => uniqueIndex(name, fields, keyForm))),
    ...(isDistributed ? distinct([...unique, ...indexes]) : indexes).map((fields) =>
      orderIndex(name, fields, keyForm),
    ),
    ...geo.map((field, place) => geoIndex(name, field, place)),
  ];
  const idConstraint = indexName(name, "id", []);
  return {
    definition,
    quoted: quoteName(name),
    hash: createHash("sha256").update(JSON.stringify(definition)).digest("hex").slice(0, 16),
    statements: new Map(),
    idConstraint,
    searchIndex: indexName(name, "search", []),
    indexes: all,
    fieldsOfConstraint: new Map([
      [idConstraint, ["id"]],
      ...all.filter(({ isUnique }) => isUnique).map((index) => [index.name, index.fields] as const),
    ]),
    indexed: new Set([...unique, ...indexes].flat()),
    searchPaths: search.map((field) => parsePath(field)),
    geoPaths: geo.map((field) => parsePath(field)),
    isDistributed,
    keyForm,
    claimed: isDistributed ? unique.map(claimedFields) : [],
    softDelete,
    reserved: new Set(softDelete ? ["deletedAt"] : []),
    expiresAt: expires === undefined ? undefined : createExpiry(expires),
  };
}

/**
 * Makes the statement of a draft, and names it when servers shall keep it prepared: the first ones
 * of each collection that are not long, because a connection never forgets them, and users may ask
 * for any filter.
 */
export function statementOf({ statements, keyForm }: Table, draft: string): PreparedStatement {
  const known = statements.get(draft);
  if (known !== undefined) return known;
  const text = expandKeys(draft, keyForm);
  if (statements.size >= MAX_STATEMENTS || text.length > MAX_STATEMENT_LENGTH) {
    return { text, name: undefined };
  }
  const name = createHash("sha256").update(text).digest("base64url").slice(0, 24);
  const statement = { text, name };
  statements.set(draft, statement);
  return statement;
}

/** Leaves out lists of fields that are there already. */
function distinct(lists: readonly (readonly string[])[]): readonly (readonly string[])[] {
  return [...new Map(lists.map((fields) => [JSON.stringify(fields), fields])).values()];
}

/** An index that the store itself needs. */
function ownIndex(
  collection: string,
  { kind, columns }: { readonly kind: "created" | "expires"; readonly columns: string },
): Index {
  return { name: indexName(collection, kind, []), isUnique: false, fields: [], columns };
}

function uniqueIndex(collection: string, fields: readonly string[], form: KeyForm): Index {
  return {
    name: indexName(collection, "unique", fields, form),
    isUnique: true,
    fields,
    columns: ascending(
      fields.map((field) => parsePath(field)),
      form,
    ),
  };
}

function orderIndex(collection: string, fields: readonly string[], form: KeyForm): Index {
  // With the id at its end the index serves the whole of a total order.
  const columnsOf = (few: readonly string[]): string =>
    ascending(
      [...new Set([...few, "id"])].map((field) => parsePath(field)),
      form,
    );
  return {
    name: indexName(collection, "index", fields, form),
    isUnique: false,
    fields,
    columns: columnsOf(fields),
    shorter: fields.slice(1).map((_field, less) => columnsOf(fields.slice(0, -1 - less))),
  };
}

function geoIndex(collection: string, field: string, place: number): Index {
  return {
    name: indexName(collection, "geo", [field, String(place)]),
    isUnique: false,
    fields: [field],
    columns: `(${geoPart(place, "cell")})`,
  };
}

function ascending(paths: readonly ParsedPath[], form: KeyForm): string {
  return orderSql(
    paths.map((path) => ({ path, descending: false })),
    (path) => keyOf(path, form),
  );
}

/** Names an index within the 63 bytes that PostgreSQL has for names. */
function indexName(
  collection: string,
  kind: string,
  fields: readonly string[],
  form: KeyForm = "bits",
): string {
  const identity = JSON.stringify([INDEX_VERSION[form], collection, kind, fields]);
  const hash = createHash("sha256").update(identity).digest("hex").slice(0, 16);
  return `${collection.slice(0, 32)}:${kind}:${hash}`;
}
