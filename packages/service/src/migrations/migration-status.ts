import { administer, type AppliedMigration, type Store } from "@fetchwork/documents";
import type { DocumentMigration } from "./document-migration.ts";

/** The migrations of a project that ran on a store. */
export interface MigrationStatus {
  readonly applied: readonly AppliedMigration[];
  /** In the order of their numbers. */
  readonly pending: readonly DocumentMigration[];
}

/**
 * Compares the migrations of a project with those that ran; this also counts documents.
 *
 * @throws DocumentsError `ERR_DOCUMENTS_MIGRATION` when they do not belong together.
 */
export async function migrationStatus(
  store: Store,
  migrations: readonly DocumentMigration[],
): Promise<MigrationStatus> {
  const pending = await pendingMigrations(store, migrations);
  return { applied: (await administer(store).status()).migrations, pending };
}

/**
 * Returns the migrations of a project that did not run, in the order of their numbers.
 *
 * @throws DocumentsError `ERR_DOCUMENTS_MIGRATION` when those that ran are not among them.
 */
export async function pendingMigrations(
  store: Store,
  migrations: readonly DocumentMigration[],
): Promise<readonly DocumentMigration[]> {
  const steps = await administer(store).plan({
    migrations: migrations.map(({ id, name }) => ({ id, name, up: () => undefined })),
  });
  const ids = new Set(steps.flatMap((step) => (step.kind === "migrate" ? [step.id] : [])));
  return migrations.filter(({ id }) => ids.has(id)).toSorted((one, other) => one.id - other.id);
}
