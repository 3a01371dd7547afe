import type { MetaField, ParsedPath } from "../../../api/field-path.ts";
import { columnOf, type Dialect } from "../../dialect.ts";
import type { Needs, Summarizing } from "../../summarizing.ts";
import { SqliteDialect } from "./dialect.ts";

const scalarTypes = "('text', 'integer', 'real', 'true', 'false')";

/**
 * SQLite adds no decimal numbers, but whole ones exactly. Numbers of at most nine digits before the
 * point and six behind it are added as millionths. There are two parts, of which no sum overflows.
 * All other numbers are listed as JSON has them, because SQLite reads some of them one bit apart
 * from JavaScript.
 */
export const sqliteSummarizing: Summarizing = {
  scalar: (path, sql) => {
    if (path.meta !== undefined) return jsonOfMeta(path.meta);
    const type = typeOf(path, sql);
    return `CASE WHEN ${type} IN ${scalarTypes} THEN ${jsonOf(path, sql)} END`;
  },
  text: (column) => column,
  inputs: (path, prefix, sql) => [
    `${typeOf(path, sql)} AS ${prefix}_type`,
    `${sql.key(path)} AS ${prefix}_value`,
    ...(path.meta === undefined ? [`${jsonOf(path, sql)} AS ${prefix}_json`] : []),
  ],
  summary: summaryOf,
  once: " LIMIT -1",
  list: (path, sql) => {
    if (path.meta !== undefined) return `'[' || ${jsonOfMeta(path.meta)} || ']'`;
    return (
      `CASE ${typeOf(path, sql)} WHEN 'array' THEN ${jsonOf(path, sql)} WHEN 'object' THEN NULL ` +
      `ELSE '[' || (${jsonOf(path, sql)}) || ']' END`
    );
  },
  eachMember: (documents) =>
    `(SELECT found.list -> each.key AS member FROM ${documents} AS found, ` +
    `json_each(found.list) AS each WHERE each.type IN ${scalarTypes}) AS members`,
  member: "member",
};

function summaryOf(path: ParsedPath, prefix: string, needs: Needs): readonly string[] {
  const [type, value] = [`${prefix}_type`, `${prefix}_value`];
  const isNumber = `${type} IN ('integer', 'real')`;
  const millionths = `CAST(round(${value} * 1e6) AS INTEGER)`;
  const isShort = `${isNumber} AND abs(${value}) < 1e9 AND ${millionths} / 1e6 = ${value}`;
  const short = `CASE WHEN ${isShort} THEN ${value} END`;
  const parts = ["/", "%"].map(
    (operator) =>
      `coalesce(sum(CASE WHEN ${isShort} THEN ${millionths} ${operator} 1000000 END), 0)`,
  );
  const json = path.meta === undefined ? `${prefix}_json` : value;
  const others = `group_concat(CASE WHEN ${isNumber} AND NOT (${isShort}) THEN ${json} END)`;
  const string = `CASE WHEN ${type} = 'text' THEN ${value} END`;
  return [
    needs.sum ? `count(CASE WHEN ${isNumber} THEN 1 END)` : "NULL",
    needs.sum ? `${parts.join(" || ',' || ")} || 'e-6'` : "NULL",
    others,
    needs.min ? `min(${short})` : "NULL",
    needs.max ? `max(${short})` : "NULL",
    needs.min ? `min(${string})` : "NULL",
    needs.max ? `max(${string})` : "NULL",
  ];
}

function typeOf(path: ParsedPath, sql: Dialect): string {
  if (path.meta !== undefined) return path.meta === "version" ? "'integer'" : "'text'";
  return `json_type(doc, ${asSqliteDialect(sql).path(path)})`;
}

function jsonOf(path: ParsedPath, sql: Dialect): string {
  return `doc -> ${asSqliteDialect(sql).path(path)}`;
}

function jsonOfMeta(meta: MetaField): string {
  return meta === "version" ? "CAST(version AS TEXT)" : `json_quote(${columnOf(meta)})`;
}

function asSqliteDialect(sql: Dialect): SqliteDialect {
  if (sql instanceof SqliteDialect) return sql;
  throw new TypeError("the statement was not begun by this engine");
}
