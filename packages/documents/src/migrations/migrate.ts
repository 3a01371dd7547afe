import { DocumentsError, optionError } from "../api/errors.ts";
import type { AppliedMigration, Migration } from "../api/migration.ts";

const maxName = 200;

/**
 * Checks a program's migrations, and returns them in order.
 *
 * @throws {DocumentsTypeError} `ERR_DOCUMENTS_OPTIONS`
 */
export function parseMigrations(migrations: readonly Migration[]): readonly Migration[] {
  const given: unknown = migrations;
  if (!Array.isArray(given)) throw optionError('"migrations" must be a list');
  for (const { id, name, up } of migrations) {
    if (!(Number.isSafeInteger(id) && id >= 1)) {
      throw optionError("the id of a migration must be a whole number from 1");
    }
    if (typeof name !== "string" || name === "" || name.length > maxName) {
      throw optionError(`the name of migration ${id} must have 1 to ${maxName} characters`);
    }
    if (typeof up !== "function") throw optionError(`"up" of migration ${id} must be a function`);
  }
  const sorted = migrations.toSorted((one, other) => one.id - other.id);
  for (const [index, { id }] of sorted.entries()) {
    if (sorted[index + 1]?.id === id) throw optionError(`two migrations have the id ${id}`);
  }
  return sorted;
}

/**
 * Finds the migrations that did not run yet, in order.
 *
 * @throws {DocumentsError} `ERR_DOCUMENTS_MIGRATION` when the store and the program do not belong
 *   together: the store knows one that the program does not (or by another name); or one comes
 *   before another that already ran.
 */
export function pendingMigrations(
  migrations: readonly Migration[],
  applied: readonly AppliedMigration[],
): readonly Migration[] {
  const known = new Map(migrations.map((migration) => [migration.id, migration]));
  let newest = 0;
  for (const { id, name } of applied) {
    const migration = known.get(id);
    if (migration === undefined) {
      throw refused(`the migration ${id} (${name}) ran, but this program does not have it`);
    }
    if (migration.name !== name) {
      throw refused(`the migration ${id} ran as "${name}", expected "${migration.name}"`);
    }
    newest = Math.max(newest, id);
    known.delete(id);
  }
  const pending = [...known.values()];
  for (const { id } of pending) {
    if (id < newest) throw refused(`the migration ${id} comes before ${newest}, which ran already`);
  }
  return pending;
}

/** Says that a migration failed. */
export function migrationError({ id, name }: Migration, cause: unknown): DocumentsError {
  const reason = cause instanceof Error ? cause.message : String(cause);
  return refused(`the migration ${id} (${name}) failed: ${reason}`, { cause });
}

function refused(message: string, options?: ErrorOptions): DocumentsError {
  return new DocumentsError("ERR_DOCUMENTS_MIGRATION", message, options);
}
