import type { ParsedPath } from "../../../api/field-path.ts";
import { columnOf } from "../../dialect.ts";
import type { Needs, Summarizing } from "../../summarizing.ts";
import { jsonOf } from "./keys.ts";

const scalarTypes = "('string', 'number', 'boolean')";

/**
 * PostgreSQL adds decimal numbers exactly, and `jsonb` has them as they were given. Without OFFSET
 * it also sorts whole documents by a group's fields, because it takes each group for a single
 * document.
 */
export const postgresSummarizing: Summarizing = {
  scalar: (path) => {
    const json = jsonOfField(path);
    return `CASE WHEN jsonb_typeof(${json}) IN ${scalarTypes} THEN ${json} END`;
  },
  text: (column) => `${column}::text`,
  inputs: (path, prefix) => [`${jsonOfField(path)} AS ${prefix}`],
  summary: summaryOf,
  once: " OFFSET 0",
  list: (path) => {
    const json = jsonOfField(path);
    return (
      `CASE jsonb_typeof(${json}) WHEN 'array' THEN ${json} WHEN 'object' THEN '[]' ` +
      `ELSE jsonb_build_array(${json}) END`
    );
  },
  eachMember: (documents) =>
    `${documents} AS found CROSS JOIN LATERAL (SELECT DISTINCT member ` +
    `FROM jsonb_array_elements(found.list) AS each (member) ` +
    `WHERE jsonb_typeof(member) IN ${scalarTypes}) AS members`,
  member: "member",
};

/** The same for tables spread over servers: none of them can compute OFFSET on its own. */
export const distributedSummarizing: Summarizing = { ...postgresSummarizing, once: "" };

function summaryOf(_path: ParsedPath, json: string, needs: Needs): readonly string[] {
  const isNumber = `jsonb_typeof(${json}) = 'number'`;
  const number = `CASE WHEN ${isNumber} THEN ${json}::numeric END`;
  const string = `CASE WHEN jsonb_typeof(${json}) = 'string' THEN ${json} #>> '{}' END COLLATE "C"`;
  return [
    needs.sum ? `count(CASE WHEN ${isNumber} THEN 1 END)` : "NULL",
    needs.sum ? `sum(${number})::text` : "NULL",
    "NULL",
    needs.min ? `min(${number})::text` : "NULL",
    needs.max ? `max(${number})::text` : "NULL",
    needs.min ? `min(${string})` : "NULL",
    needs.max ? `max(${string})` : "NULL",
  ];
}

function jsonOfField(path: ParsedPath): string {
  return path.meta === undefined ? jsonOf(path) : `to_jsonb(${columnOf(path.meta)})`;
}
