import { type ParsedPath, parsePath } from "../../../api/field-path.ts";
import type { ScalarValue } from "../../../api/where.ts";
import { quoteName } from "../../dialect.ts";
import { jsonPath, quoteText } from "./json.ts";

/** Table of list members of one field. Members have types: `true` would equal 1. */
export interface MembersTable {
  /** Name, not quoted. */
  readonly name: string;
  readonly path: ParsedPath;
}

/** Describes the table of the members of a field. */
export function membersTable(collection: string, field: string): MembersTable {
  return { name: `${collection}:members:${JSON.stringify(field)}`, path: parsePath(field) };
}

/** Returns the field of a table of members from the table's name; undefined for other tables. */
export function fieldOfMembers(collection: string, name: string): string | undefined {
  const prefix = `${collection}:members:`;
  if (!name.startsWith(prefix)) return undefined;
  return String(JSON.parse(name.slice(prefix.length)));
}

/** Writes the statements that create a table of members, and fill it. */
export function createMembers(quoted: string, table: MembersTable): readonly string[] {
  const name = quoteName(table.name);
  return [
    `CREATE TABLE ${name} (type TEXT NOT NULL, value ANY NOT NULL, document INTEGER NOT NULL, ` +
      "PRIMARY KEY (type, value, document)) STRICT, WITHOUT ROWID",
    `INSERT OR IGNORE INTO ${name} ${compareMembers(quoted, table).expected} ORDER BY 1, 2, 3`,
  ];
}

/** Writes a SELECT of all members as they are stored, and one of those that the documents have. */
export function compareMembers(
  quoted: string,
  { name, path }: MembersTable,
): { readonly stored: string; readonly expected: string } {
  const members = membersOf(path, { document: "stored.doc", text: quoteText });
  return {
    stored: `SELECT type, value, document FROM ${quoteName(name)}`,
    expected:
      `SELECT ${memberSql("m")}, stored.seq FROM ${quoted} AS stored, ${members} ` +
      "AND m.type NOT IN ('array', 'object')",
  };
}

/** Writes type and value that compare a row of `json_each`. IN never finds NULL atoms. */
export function memberSql(row: string): string {
  return `replace(${row}.type, 'real', 'integer'), coalesce(${row}.atom, '')`;
}

/** Returns the same type and value for a value that is bound. */
export function memberOf(value: ScalarValue): {
  readonly type: string;
  readonly atom: number | string;
} {
  if (typeof value === "string") return { type: "text", atom: value };
  if (typeof value === "number") return { type: "integer", atom: value };
  return { type: String(value), atom: value === null ? "" : Number(value) };
}

/**
 * Writes FROM and WHERE for the members of a field of a JSON text, as rows `m` of `json_each`.
 * Where a name on the way leads to a list, each of its members is followed. `text` writes a path,
 * each time in the order of the text.
 */
export function membersOf(
  { segments }: ParsedPath,
  { document, text }: { readonly document: string; readonly text: (path: string) => string },
): string {
  const whole = jsonPath(segments);
  if (segments.length === 1) {
    return `json_each(${document}, ${text(whole)}) AS m WHERE json_type(${document}, ${text(whole)}) = 'array'`;
  }
  const steps = segments.map((name, place) => {
    const from = place === 0 ? document : `${stepName(place - 1, segments)}.value`;
    const at = (): string => `${from}, ${text(jsonPath([name]))}`;
    const value = (): string => `${from} -> ${text(jsonPath([name]))}`;
    // A value that is not a list counts as a list of one.
    const list =
      `CASE WHEN json_type(${at()}) = 'array' THEN ${value()} ` +
      `WHEN json_type(${at()}) IS NOT NULL THEN json_array(${value()}) END`;
    const guarded =
      place === 0
        ? list
        : `CASE WHEN ${stepName(place - 1, segments)}.type = 'object' THEN ${list} END`;
    return `json_each(${guarded}) AS ${stepName(place, segments)}`;
  });
  // A field that is reached through objects alone has members only where it is a list.
  return `${steps.join(", ")} WHERE coalesce(json_type(${document}, ${text(whole)}), 'array') = 'array'`;
}

function stepName(place: number, { length }: readonly string[]): string {
  return place === length - 1 ? "m" : `step${place}`;
}
