import { createHash } from "node:crypto";
import { quoteName } from "../../dialect.ts";

/**
 * Returns the name of the sequence that is as high as the highest version of a removed document of a collection, quoted.
 * Nobody waits for anybody else's transaction to raise a sequence, as they would for a row.
 */
export function removedVersions(collection: string): string {
  const hash = createHash("sha256").update(collection).digest("hex").slice(0, 16);
  return quoteName(`fetchwork:removed:${hash}`);
}

/** Writes the statement that creates the sequence of {@link removedVersions}. */
export function createRemovedVersions(collection: string): string {
  return `CREATE SEQUENCE IF NOT EXISTS ${removedVersions(collection)} MINVALUE 0 START 0 CACHE 1`;
}

/** Writes the version with which a document begins whose id the caller chose, see `Layout.insert`. */
export function firstVersionSql(collection: string): string {
  return `(SELECT last_value + 1 FROM ${removedVersions(collection)})`;
}

/**
 * Writes `version`, that of an added document. It fails by a division by zero, which is retried like a conflict with other changes:
 * the statement may have waited for a transaction that removed the document with this id, whose version the sequence did not have
 * at the beginning.
 */
export function checkedVersionSql(collection: string, version: string): string {
  const name = removedVersions(collection).replaceAll("'", "''");
  const removed = `coalesce(pg_sequence_last_value('${name}'::regclass), 0)`;
  return `${version} / (${version} > ${removed})::int`;
}

/** Writes the SELECT that raises the sequence to at least `version`, an expression; it never goes back. */
export function raiseRemovedVersion(collection: string, version: string): string {
  const name = removedVersions(collection);
  return (
    `SELECT nextval('${name.replaceAll("'", "''")}') FROM ${name}, ` +
    `generate_series(last_value + is_called::int, ${version})`
  );
}
