import { type ParsedPath, parsePath } from "../../../api/field-path.ts";
import { staleKeySql } from "../../collation.ts";
import type { Index, Table } from "../../layout.ts";
import { uniqueIndexName } from "../connection/sqlite-error.ts";

/** An index that a definition asks for. */
export interface SqliteIndex extends Index {
  /** Fields of the index, in order. */
  readonly paths: readonly ParsedPath[];
  readonly isUnique: boolean;
  /** What stands between the parentheses. Default: the fields. */
  readonly columns?: string | undefined;
  /** What rows of the index must fulfill. Default: nothing. */
  readonly condition?: string | undefined;
}

/** Lists the indexes of a collection. */
export function indexesOf({ definition, softDelete, collated }: Table): readonly SqliteIndex[] {
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
  const sorted = [...collated].flatMap(([field, collation]): readonly SqliteIndex[] => {
    const fields = JSON.stringify([field]);
    const common = { fields: [field], paths: [], isUnique: false };
    return [
      { ...common, name: `${name}:collated:${fields}`, columns: `${collation.key}, id` },
      {
        ...common,
        name: `${name}:uncollated:${fields}`,
        columns: "seq",
        condition: staleKeySql(collation),
      },
    ];
  });
  return [created, ...uniques, ...others, ...sorted];
}

/** Gives the fields of an index of ours from its name; undefined for another one. */
export function fieldsOfIndex(name: string): readonly string[] | undefined {
  const list = /^[^:]+:(?:collated|index|uncollated|unique|unique-live):(\[.*\])$/s.exec(name)?.[1];
  if (list === undefined) return undefined;
  const fields: unknown = JSON.parse(list);
  return Array.isArray(fields) ? fields.map(String) : undefined;
}

const idPath: ParsedPath = parsePath("id");
