import { createHash } from "node:crypto";
import { UniqueError } from "../../../api/errors.ts";
import { type ParsedPath, parsePath, valueAt } from "../../../api/field-path.ts";
import { isPlainObject } from "../../../is-plain-object.ts";
import type { Operation } from "../../operation.ts";
import { PostgresWriter } from "../statements/dialect.ts";
import { numberKey } from "../statements/keys.ts";
import { claimsTable } from "../statements/own-tables.ts";

/** Fields that are unique through the table of claims. */
export interface ClaimedFields {
  readonly fields: readonly string[];
  readonly paths: readonly ParsedPath[];
  /** Key in the table of claims. */
  readonly key: string;
}

/** A collection whose unique fields are claimed. */
export interface ClaimingTable {
  readonly definition: { readonly name: string };
  readonly claimed: readonly ClaimedFields[];
}

/** The values of unique fields that a document has for itself. */
export interface Claim {
  readonly key: string;
  /** A hash of the values, so that any value fits into an index. */
  readonly value: string;
  readonly id: string;
}

/** Describes a unique index for the table of claims. */
export function claimedFields(fields: readonly string[]): ClaimedFields {
  return {
    fields,
    paths: fields.map((field) => parsePath(field)),
    key: JSON.stringify(fields),
  };
}

/** Returns what a document claims: nothing for fields of which one is missing or null. */
export function claimsOf(
  { claimed }: Pick<ClaimingTable, "claimed">,
  stored: { readonly id: unknown },
): readonly Claim[] {
  return claimed.flatMap(({ key, paths }) => {
    const values = paths.map(({ segments }) => valueAt(stored, segments) ?? null);
    if (values.includes(null)) return [];
    const text = JSON.stringify(values.map(canonical));
    const value = createHash("sha256").update(text).digest("base64url");
    return [{ key, value, id: String(stored.id) }];
  });
}

/** Returns the claims of `some` that are not among `others`. */
export function claimsBeyond(some: readonly Claim[], others: readonly Claim[]): readonly Claim[] {
  return some.filter(
    ({ key, value }) => !others.some((other) => other.key === key && other.value === value),
  );
}

/**
 * Takes claims, all or, with an error, some that the transaction must give back.
 *
 * Waits for transactions that are about to take or to give up the same, as a unique index would.
 * All take in the same order, so that two that want the same values do not wait for each other.
 *
 * @throws {UniqueError}
 */
export function* takeClaims(table: ClaimingTable, claims: readonly Claim[]): Operation<void> {
  if (claims.length === 0) return;
  const { name } = table.definition;
  const sorted = claims.toSorted((one, other) => (nameOf(one) < nameOf(other) ? -1 : 1));
  const sql = new PostgresWriter();
  const { rows } = yield sql.write(
    `INSERT INTO ${claimsTable} (collection, field, value, id) ` +
      `SELECT ${sql.bind(name, "text")}, field, value, id FROM ${claimList(sorted, sql)} ` +
      "ON CONFLICT DO NOTHING RETURNING field, value, id",
  );
  if (rows.length === sorted.length) return;
  const taken = new Set(rows.map((row) => row.join()));
  const refused = sorted.find(({ key, value, id }) => !taken.has([key, value, id].join()));
  throw new UniqueError(name, fieldsOfClaim(table, refused?.key));
}

/** Writes claims as a list of rows. */
export function claimList(claims: readonly Claim[], sql: PostgresWriter): string {
  const lists = [
    claims.map(({ key }) => key),
    claims.map(({ value }) => value),
    claims.map(({ id }) => id),
  ].map((list) => sql.bind(list, "text[]"));
  return `unnest(${lists.join(", ")}) AS wanted (field, value, id)`;
}

/** Gives up claims of one document, by their fields. */
export function* dropClaims(table: ClaimingTable, claims: readonly Claim[]): Operation<void> {
  const [first] = claims;
  if (first === undefined) return;
  const sql = new PostgresWriter();
  const fields = claims.map(({ key }) => key);
  yield sql.write(
    `DELETE FROM ${claimsTable} WHERE collection = ${sql.bind(table.definition.name, "text")} ` +
      `AND id = ${sql.bind(first.id, "text")} AND field = ANY(${sql.bind(fields, "text[]")})`,
  );
}

/** Gives up everything that documents claim. */
export function* dropAllClaims(
  table: ClaimingTable,
  ids: readonly (number | string | null)[],
): Operation<void> {
  if (ids.length === 0 || table.claimed.length === 0) return;
  const sql = new PostgresWriter();
  yield sql.write(
    `DELETE FROM ${claimsTable} WHERE collection = ${sql.bind(table.definition.name, "text")} ` +
      `AND id = ANY(${sql.bind(ids, "text[]")})`,
  );
}

/** Returns the fields that a key of the table of claims stands for. */
export function fieldsOfClaim(
  { claimed }: Pick<ClaimingTable, "claimed">,
  key: unknown,
): readonly string[] {
  return claimed.find((each) => each.key === key)?.fields ?? [];
}

function nameOf({ key, value }: Claim): string {
  return `${key} ${value}`;
}

/** Makes the same JSON text of what is the same: `true` is 1, and fields have no order. */
function canonical(value: unknown): unknown {
  if (typeof value === "boolean") return numberKey(Number(value));
  if (typeof value === "number") return numberKey(value);
  if (typeof value === "string") return `s${value}`;
  return sortFields(value);
}

function sortFields(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sortFields);
  if (!isPlainObject(value)) return value;
  const names = Object.keys(value).toSorted();
  return names.map((name) => [name, sortFields(value[name])]);
}
