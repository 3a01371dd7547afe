import { type ParsedPath, parsePath } from "../../../api/field-path.ts";
import type { Index, Table } from "../../layout.ts";
import { uniqueIndexName } from "../connection/sqlite-error.ts";

/** An index that a definition asks for. */
export interface SqliteIndex extends Index {
  /** Fields of the index, in order. */
  readonly paths: readonly ParsedPath[];
  readonly isUnique: boolean;
}

/** Lists the indexes of a collection. */
export function indexesOf({ definition, softDelete }: Table): readonly SqliteIndex[] {
  const { name, unique, indexes } = definition;
  const created: SqliteIndex = {
    name: `${name}:created`,
    fields: ["createdAt"],
    paths: [parsePath("createdAt"), idPath],
    isUnique: false,
  };
  const uniques = unique.map((fields): SqliteIndex => {
    const paths = fields.map((field) => parsePath(field));
    const index = uniqueIndexName({ collection: name, live: softDelete }, fields);
    return { name: index, fields, paths, isUnique: true };
  });
  const others = indexes.map((fields): SqliteIndex => {
    const paths = fields.map((field) => parsePath(field));
    // With the id at its end the index serves the whole of a total order.
    if (!fields.includes("id")) paths.push(idPath);
    return { name: `${name}:index:${JSON.stringify(fields)}`, fields, paths, isUnique: false };
  });
  return [created, ...uniques, ...others];
}

/** Returns the fields of an index of ours from its name; undefined for another one. */
export function fieldsOfIndex(name: string): readonly string[] | undefined {
  const list = /^[^:]+:(?:index|unique|unique-live):(\[.*\])$/s.exec(name)?.[1];
  if (list === undefined) return undefined;
  const fields: unknown = JSON.parse(list);
  return Array.isArray(fields) ? fields.map(String) : undefined;
}

const idPath: ParsedPath = parsePath("id");
