import type { MetaField, ParsedPath } from "../field-path.ts";
import type { OrderTerm } from "../query.ts";

/** A value that is bound to a statement. */
export type Value = number | string | null | readonly (number | string | null)[];

/** A statement with what is bound to it. */
export interface Statement {
  readonly text: string;
  readonly values: readonly Value[];
  /** Set when the server shall keep the statement prepared. */
  readonly name?: string | undefined;
}

const COLUMN_OF_META: Readonly<Record<MetaField, string>> = {
  id: "id",
  version: "version",
  createdAt: "created_at",
  updatedAt: "updated_at",
};

/**
 * The characters of a text that a key holds: an entry of a B-tree has at most 2,704 bytes, and a
 * longer text would make the document impossible to store.
 */
export const KEY_CHARACTERS = 200;

/** Quotes an identifier. */
export function quoteName(name: string): string {
  return `"${name.replaceAll('"', '""')}"`;
}

/** Quotes a text, whatever `standard_conforming_strings` says. */
export function quoteText(text: string): string {
  const quoted = `'${text.replaceAll("'", "''").replaceAll("\\", "\\\\")}'`;
  return text.includes("\\") ? `E${quoted}` : quoted;
}

/**
 * Writes the JSON value of a field. `->` with a text takes a field of an object and nothing of a
 * list, as paths do.
 */
export function jsonOf({ segments }: ParsedPath): string {
  return `(doc${segments.map((name) => ` -> ${quoteText(name)}`).join("")})`;
}

/** Writes the text of a field: strings without their quotes, everything else as JSON. */
export function textOf({ segments }: ParsedPath): string {
  const names = segments.map((name) => ` -> ${quoteText(name)}`);
  const last = names.pop() ?? "";
  return `(doc${names.join("")}${last.replace(" -> ", " ->> ")})`;
}

/** Writes the JSON type of a field. */
export function typeOf(path: ParsedPath): string {
  return `jsonb_typeof${jsonOf(path)}`;
}

/** Writes the column of a field that the store keeps. */
export function columnOf(meta: MetaField): string {
  return COLUMN_OF_META[meta];
}

/**
 * Writes what a field is in order by, found by and unique by; NULL when it is missing or null.
 *
 * It is one text, so that an index on it serves an equality and the order of the next field at
 * once: "m" or "n" and the bits of a number, negative ones turned round, or "s" and a text, of
 * which a long one is cut and told apart by its hash. MD5 is enough for that: who makes two texts
 * collide is refused the second one of them in a unique field.
 */
export function keyOf(path: ParsedPath): string {
  if (path.meta !== undefined) return columnOf(path.meta);
  const text = textOf(path);
  const bits = `encode(float8send(${text}::float8), 'hex')`;
  return (
    `(CASE ${typeOf(path)} WHEN 'null' THEN NULL ` +
    `WHEN 'number' THEN CASE WHEN ${text}::float8 < 0 ` +
    `THEN 'm' || translate(${bits}, '0123456789abcdef', 'fedcba9876543210') ` +
    `ELSE 'n' || ${bits} END ` +
    `WHEN 'boolean' THEN CASE ${text} WHEN 'true' THEN ${quoteText(numberKey(1))} ` +
    `ELSE ${quoteText(numberKey(0))} END ` +
    `ELSE 's' || CASE WHEN length(${text}) <= ${KEY_CHARACTERS} THEN ${text} ` +
    `ELSE left(${text}, ${KEY_CHARACTERS}) || md5(${text}) END END COLLATE "C")`
  );
}

/** Gives the key of a number. */
export function numberKey(value: number): string {
  const view = new DataView(new ArrayBuffer(8));
  // Adding zero makes -0 what JSON makes of it.
  view.setFloat64(0, value + 0);
  const bits = view.getBigUint64(0);
  return value < 0 ? `m${hex(bits ^ 0xffff_ffff_ffff_ffffn)}` : `n${hex(bits)}`;
}

/** Writes the key of a value; texts of which the key is cut are cut by PostgreSQL as in it. */
export function keyOfValue(
  path: ParsedPath,
  value: number | string,
  parameters: Parameters,
): string {
  if (path.meta !== undefined) {
    return parameters.bind(String(value), path.meta === "version" ? "numeric" : "text");
  }
  if (typeof value === "number") return parameters.bind(numberKey(value), "text");
  if (!isLong(value)) return parameters.bind(`s${value}`, "text");
  const text = parameters.bind(value, "text");
  return `('s' || left(${text}, ${KEY_CHARACTERS}) || md5(${text}))`;
}

/** Tells whether a key holds less than the whole text; PostgreSQL counts code points. */
export function isLong(value: number | string): boolean {
  return (
    typeof value === "string" &&
    value.length > KEY_CHARACTERS &&
    Array.from(value).length > KEY_CHARACTERS
  );
}

function hex(bits: bigint): string {
  return bits.toString(16).padStart(16, "0");
}

/**
 * Writes the terms of ORDER BY: missing and null, then numbers, then texts. As the columns of an
 * index, the same terms serve the order from either end.
 */
export function orderSql(terms: readonly OrderTerm[]): string {
  return terms
    .map(({ path, descending }) => {
      const nulls = descending ? "NULLS LAST" : "NULLS FIRST";
      const direction = descending ? "DESC" : "ASC";
      return `${keyOf(path)} ${direction}${path.meta === undefined ? ` ${nulls}` : ""}`;
    })
    .join(", ");
}

/** Gathers what is bound to one statement. */
export class Parameters {
  readonly values: Value[] = [];

  /** Binds a value as one of a type of PostgreSQL. */
  bind(value: Value, type: string): string {
    this.values.push(value);
    return `$${this.values.length}::${type}`;
  }
}
