import type { ParsedPath } from "../../../api/field-path.ts";
import { columnOf } from "../../dialect.ts";

/**
 * Characters of a text that a key holds: an entry of a B-tree has at most 2,704 bytes. A longer
 * text would make the document impossible to store.
 */
export const keyCharacters = 200;

/** Quotes a text, whatever `standard_conforming_strings` says. */
export function quoteText(text: string): string {
  const quoted = `'${text.replaceAll("'", "''").replaceAll("\\", "\\\\")}'`;
  return text.includes("\\") ? `E${quoted}` : quoted;
}

/** Writes a field's JSON value. `->` with text reads objects, never lists, as paths do. */
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

/**
 * Writes what a field is sorted by, found by and unique by; NULL when it is missing or null.
 *
 * It is one text: an index on it serves an equality and the order of the next field at once. A
 * number has "m" or "n" before it, negative ones turned round, and a text has "s". A long text is
 * cut and told apart by its hash. MD5 is enough for that: a unique field refuses the second one of
 * two texts that are made to collide.
 */
export function keyOf(path: ParsedPath): string {
  if (path.meta !== undefined) return columnOf(path.meta);
  const text = textOf(path);
  return (
    `(CASE ${typeOf(path)} WHEN 'null' THEN NULL ` +
    `WHEN 'number' THEN ${numberKeySql(text)} ` +
    `WHEN 'boolean' THEN CASE ${text} WHEN 'true' THEN ${quoteText(numberKey(1))} ` +
    `ELSE ${quoteText(numberKey(0))} END ` +
    `ELSE 's' || CASE WHEN length(${text}) <= ${keyCharacters} THEN ${text} ` +
    `ELSE left(${text}, ${keyCharacters}) || md5(${text}) END END COLLATE "C")`
  );
}

/** Writes the key of a text of which it holds the beginning and a hash, as PostgreSQL cuts it. */
export function longTextKey(text: string): string {
  return `('s' || left(${text}, ${keyCharacters}) || md5(${text}))`;
}

/** Whether a key holds less than the whole text; PostgreSQL counts code points. */
export function isLong(value: number | string): boolean {
  return (
    typeof value === "string" &&
    value.length > keyCharacters &&
    Array.from(value).length > keyCharacters
  );
}

/** Returns the key of a number, which is made of its bits. */
export function numberKey(value: number): string {
  const view = new DataView(new ArrayBuffer(8));
  // Adding zero makes -0 what JSON makes of it.
  view.setFloat64(0, value + 0);
  const bits = view.getBigUint64(0);
  return value < 0 ? `m${hex(bits ^ 0xffff_ffff_ffff_ffffn)}` : `n${hex(bits)}`;
}

function numberKeySql(text: string): string {
  const bits = `encode(float8send(${text}::float8), 'hex')`;
  return (
    `CASE WHEN ${text}::float8 < 0 ` +
    `THEN 'm' || translate(${bits}, '0123456789abcdef', 'fedcba9876543210') ELSE 'n' || ${bits} END`
  );
}

function hex(bits: bigint): string {
  return bits.toString(16).padStart(16, "0");
}
