import { createHash } from "node:crypto";
import type { CollectionDefinition } from "../../../api/definition.ts";
import { type ParsedPath, parsePath } from "../../../api/field-path.ts";
import { hasMembers, type Index } from "../../layout.ts";
import type { Operation } from "../../operation.ts";
import { orderSql, PostgresWriter } from "./dialect.ts";
import { geoPart } from "./geo.ts";
import { keyOf } from "./keys.ts";
import { membersOf } from "./members.ts";

/** An index of a collection's table. */
export interface PostgresIndex extends Index {
  readonly isUnique: boolean;
  /** Text between the parentheses. */
  readonly columns: string;
  /** How the index is built. Default: as a B-tree. */
  readonly method?: "gin" | undefined;
  /** Conditions for documents in the index, in addition to not being removed. Default: none. */
  readonly condition?: string | undefined;
  /** Texts to try there one after the other, when one is longer than the server can note. */
  readonly shorter?: readonly string[];
}

/** Raised when the expressions of indexes change, so that they are built again. */
const indexVersion = 1;

/** Lists the indexes of a collection; `isUnique`: unique fields have unique ones. */
export function indexesOf(
  { name, unique, indexes, geo = [], expires }: CollectionDefinition<unknown>,
  { isUnique }: { readonly isUnique: boolean },
): readonly PostgresIndex[] {
  return [
    ownIndex(name, "created", "created_at, id"),
    ...(expires === undefined ? [] : [ownIndex(name, "expires", "expires_at")]),
    ...(isUnique ? unique.map((fields) => uniqueIndex(name, fields)) : []),
    ...(isUnique ? indexes : distinct([...unique, ...indexes])).map((fields) =>
      orderIndex(name, fields),
    ),
    ...indexes
      .filter(hasMembers)
      .flat()
      .map((field) => membersIndex(name, field)),
    ...geo.map((field, place) => geoIndex(name, field, place)),
  ];
}

/** Leaves out lists of fields that are there already. */
function distinct(lists: readonly (readonly string[])[]): readonly (readonly string[])[] {
  return [...new Map(lists.map((fields) => [JSON.stringify(fields), fields])).values()];
}

/** An index that the store itself needs. */
function ownIndex(collection: string, kind: "created" | "expires", columns: string): PostgresIndex {
  return { name: indexName(collection, kind, []), isUnique: false, fields: [], columns };
}

function uniqueIndex(collection: string, fields: readonly string[]): PostgresIndex {
  const paths = fields.map((field) => parsePath(field));
  const name = indexName(collection, "unique", fields);
  return { name, isUnique: true, fields, columns: ascending(paths) };
}

function orderIndex(collection: string, fields: readonly string[]): PostgresIndex {
  return {
    name: indexName(collection, "index", fields),
    isUnique: false,
    fields,
    columns: orderColumns(fields),
    shorter: fields.slice(1).map((_field, less) => orderColumns(fields.slice(0, -1 - less))),
  };
}

/** With the id at its end an index serves the whole of a total order. */
function orderColumns(fields: readonly string[]): string {
  return ascending([...new Set([...fields, "id"])].map((field) => parsePath(field)));
}

/** Makes an index without pending updates, since each search would read all of them. */
function membersIndex(collection: string, field: string): PostgresIndex {
  const { list, condition } = membersOf(parsePath(field));
  return {
    name: indexName(collection, "members", [field]),
    isUnique: false,
    fields: [field],
    columns: `(${list}) jsonb_path_ops`,
    method: "gin",
    condition,
  };
}

function geoIndex(collection: string, field: string, place: number): PostgresIndex {
  const name = indexName(collection, "geo", [field, String(place)]);
  return { name, isUnique: false, fields: [field], columns: `(${geoPart(place, "cell")})` };
}

function ascending(paths: readonly ParsedPath[]): string {
  return orderSql(
    paths.map((path) => ({ path, descending: false })),
    keyOf,
  );
}

/** Names an index within the 63 bytes that PostgreSQL has for names. */
export function indexName(collection: string, kind: string, fields: readonly string[]): string {
  const identity = JSON.stringify([indexVersion, collection, kind, fields]);
  const hash = createHash("sha256").update(identity).digest("hex").slice(0, 16);
  return `${collection.slice(0, 32)}:${kind}:${hash}`;
}

/** Reads the names of the indexes of a table, with whether each is complete. */
export function* readIndexes(quoted: string): Operation<ReadonlyMap<string, boolean>> {
  const sql = new PostgresWriter();
  const { rows } = yield sql.read(
    "SELECT c.relname, i.indisvalid::text FROM pg_index i JOIN pg_class c ON c.oid = i.indexrelid " +
      `WHERE i.indrelid = to_regclass(${sql.bind(quoted, "text")})`,
  );
  return new Map(rows.map(([name, isValid]) => [String(name), isValid === "true"]));
}
