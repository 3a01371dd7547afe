import { createHash } from "node:crypto";
import { UniqueError } from "../../api/errors.ts";
import { type ParsedPath, parsePath, valueAt } from "../../api/field-path.ts";
import { isPlainObject } from "../../is-plain-object.ts";
import { CLAIMS } from "./own-tables.ts";
import type { Session } from "./session.ts";
import { numberKey } from "./sql.ts";
import type { Table } from "./table.ts";

/** Fields that are unique through the table of claims. */
export interface ClaimedFields {
  readonly fields: readonly string[];
  readonly paths: readonly ParsedPath[];
  /** What the table of claims knows them by. */
  readonly key: string;
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

/** Gives what a document claims: nothing for fields of which one is missing or null. */
export function claimsOf(table: Table, stored: { readonly id: unknown }): readonly Claim[] {
  return table.claimed.flatMap(({ key, paths }) => {
    const values = paths.map(({ segments }) => valueAt(stored, segments) ?? null);
    if (values.includes(null)) return [];
    const text = JSON.stringify(values.map(canonical));
    const value = createHash("sha256").update(text).digest("base64url");
    return [{ key, value, id: String(stored.id) }];
  });
}

/** Gives the claims of `some` that are not among `others`. */
export function claimsBeyond(some: readonly Claim[], others: readonly Claim[]): readonly Claim[] {
  return some.filter(
    ({ key, value }) => !others.some((other) => other.key === key && other.value === value),
  );
}

/**
 * Takes claims, all or, with an error, some that the transaction must give back.
 *
 * Waits for whoever is about to take or to give up the same, as a unique index would. All take in
 * the same order, so that two that want the same values do not wait for each other.
 *
 * @throws {UniqueError}
 */
export async function takeClaims(
  session: Session,
  table: Table,
  claims: readonly Claim[],
): Promise<void> {
  if (claims.length === 0) return;
  const sorted = claims.toSorted((one, other) => (nameOf(one) < nameOf(other) ? -1 : 1));
  const { rows } = await session.write({
    text:
      `INSERT INTO ${CLAIMS} (collection, field, value, id) ` +
      "SELECT $1, field, value, id FROM unnest($2::text[], $3::text[], $4::text[]) " +
      "AS wanted (field, value, id) ON CONFLICT DO NOTHING RETURNING field, value, id",
    values: [
      table.definition.name,
      sorted.map(({ key }) => key),
      sorted.map(({ value }) => value),
      sorted.map(({ id }) => id),
    ],
  });
  if (rows.length === sorted.length) return;
  const taken = new Set(rows.map((row) => row.join()));
  const refused = sorted.find(({ key, value, id }) => !taken.has([key, value, id].join()));
  throw new UniqueError(table.definition.name, fieldsOf(table, refused));
}

/** Gives up claims of one document, by their fields. */
export async function dropClaims(
  session: Session,
  table: Table,
  claims: readonly Claim[],
): Promise<void> {
  const [first] = claims;
  if (first === undefined) return;
  await session.write({
    text: `DELETE FROM ${CLAIMS} WHERE collection = $1 AND id = $2 AND field = ANY($3::text[])`,
    values: [table.definition.name, first.id, claims.map(({ key }) => key)],
  });
}

/** Gives up everything that documents claim. */
export async function dropAllClaims(
  session: Session,
  table: Table,
  ids: readonly (string | null)[],
): Promise<void> {
  if (ids.length === 0 || table.claimed.length === 0) return;
  await session.write({
    text: `DELETE FROM ${CLAIMS} WHERE collection = $1 AND id = ANY($2::text[])`,
    values: [table.definition.name, ids],
  });
}

function fieldsOf(table: Table, claim: Claim | undefined): readonly string[] {
  return table.claimed.find(({ key }) => key === claim?.key)?.fields ?? [];
}

function nameOf({ key, value }: Claim): string {
  return `${key} ${value}`;
}

/** Makes the same JSON text of what is the same: `true` is 1, and fields have no order. */
function canonical(value: unknown): unknown {
  if (typeof value === "boolean") return numberKey(Number(value));
  if (typeof value === "number") return numberKey(value);
  if (typeof value === "string") return `s${value}`;
  return sorted(value);
}

function sorted(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sorted);
  if (!isPlainObject(value)) return value;
  const names = Object.keys(value).toSorted();
  return names.map((name) => [name, sorted(value[name])]);
}
