import type { ParsedPath } from "../../../api/field-path.ts";
import { columnOf } from "../../dialect.ts";

/**
 * How the key of a number is made: of its bits, or of its decimal digits behind the place of the point, for which systems
 * that are like PostgreSQL have every function.
 */
export type KeyForm = "bits" | "digits";

/**
 * Characters of a text that a key holds: an entry of a B-tree has at most 2,704 bytes, and a longer text would make the
 * document impossible to store.
 */
export const keyCharacters = 200;

/** Added to the places before the point, of which there are 309 to -323. */
const middle = 500;

/** Quotes a text, whatever `standard_conforming_strings` says. */
export function quoteText(text: string): string {
  const quoted = `'${text.replaceAll("'", "''").replaceAll("\\", "\\\\")}'`;
  return text.includes("\\") ? `E${quoted}` : quoted;
}

/** Writes the JSON value of a field. `->` with a text takes a field of an object and nothing of a list, as paths do. */
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
 * It is one text, so that an index on it serves an equality and the order of the next field at once: "m" or "n" and what
 * a number is, negative ones turned round, or "s" and a text, of which a long one is cut and told apart by its hash. MD5
 * is enough for that: who makes two texts collide is refused the second one of them in a unique field.
 */
export function keyOf(path: ParsedPath, form: KeyForm): string {
  if (path.meta !== undefined) return columnOf(path.meta);
  const text = textOf(path);
  return (
    `(CASE ${typeOf(path)} WHEN 'null' THEN NULL ` +
    `WHEN 'number' THEN ${form === "bits" ? bitsSql(text) : digitsSql(text)} ` +
    `WHEN 'boolean' THEN CASE ${text} WHEN 'true' THEN ${quoteText(numberKey(1, form))} ` +
    `ELSE ${quoteText(numberKey(0, form))} END ` +
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

/** Returns the key of a number. */
export function numberKey(value: number, form: KeyForm = "bits"): string {
  if (form === "digits") return digitsKey(value);
  const view = new DataView(new ArrayBuffer(8));
  // Adding zero makes -0 what JSON makes of it.
  view.setFloat64(0, value + 0);
  const bits = view.getBigUint64(0);
  return value < 0 ? `m${hex(bits ^ 0xffff_ffff_ffff_ffffn)}` : `n${hex(bits)}`;
}

function bitsSql(text: string): string {
  const bits = `encode(float8send(${text}::float8), 'hex')`;
  return (
    `CASE WHEN ${text}::float8 < 0 ` +
    `THEN 'm' || translate(${bits}, '0123456789abcdef', 'fedcba9876543210') ELSE 'n' || ${bits} END`
  );
}

/**
 * Not every system writes a number without an exponent, as PostgreSQL does. The text is named as few times as possible:
 * an index of several such keys has to fit into a row of the catalogue.
 */
function digitsSql(text: string): string {
  const mantissa = `split_part(ltrim(upper(${text}), '-'), 'E', 1)`;
  const significant = `ltrim(replace(${mantissa}, '.', ''), '0')`;
  const places =
    `length(${significant}) - length(split_part(${mantissa}, '.', 2)) + ` +
    `split_part(upper(${text}) || 'E0', 'E', 2)::int`;
  const sign = (negative: string, positive: string): string =>
    `CASE left(${text}, 1) WHEN '-' THEN ${quoteText(negative)} ELSE ${quoteText(positive)} END`;
  // Turning the digits round does the same to the place of the point: 999 less what it is.
  return (
    `CASE WHEN ${significant} = '' THEN 'n' ELSE ${sign("m", "n")} || ` +
    `translate(lpad((${middle} + ${places})::text, 3, '0') || rtrim(${significant}, '0'), ` +
    `'0123456789', ${sign("9876543210", "0123456789")}) || ${sign("~", "")} END`
  );
}

function digitsKey(value: number): string {
  if (value === 0) return "n";
  const [mantissa = "", exponent = ""] = Math.abs(value).toExponential().split("e");
  const digits = mantissa.replace(".", "");
  const places = Number(exponent) + 1;
  if (value > 0) return `n${String(middle + places).padStart(3, "0")}${digits}`;
  const turned = digits.replaceAll(/\d/g, (digit) => String(9 - Number(digit)));
  return `m${String(middle - 1 - places).padStart(3, "0")}${turned}~`;
}

function hex(bits: bigint): string {
  return bits.toString(16).padStart(16, "0");
}
