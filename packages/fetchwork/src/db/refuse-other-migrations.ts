import type { AppliedMigration } from "@fetchwork/documents";

/**
 * Refuses a store that ran migrations which the documents that come did not see: nothing would run
 * them again.
 *
 * @throws When there is such a migration.
 */
export function refuseOtherMigrations(
  store: readonly AppliedMigration[],
  documents: readonly AppliedMigration[],
): void {
  const seen = new Map(documents.map(({ id, name }) => [id, name]));
  for (const { id, name } of store) {
    if (seen.get(id) !== name) {
      throw new Error(
        `the store has run migration ${id} (${name}), which the backup has not; expected a new store`,
      );
    }
  }
}
