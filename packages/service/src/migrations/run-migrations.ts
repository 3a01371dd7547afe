import { administer, type CollectionDefinition, type Store } from "@fetchwork/documents";
import type { DocumentMigration } from "./document-migration.ts";
import { type MigrationStatus, migrationStatus } from "./migration-status.ts";
import { progressCollection } from "./progress-collection.ts";
import { type Direction, namesOf, progressId, runParts } from "./run-parts.ts";

export type { Direction };

/** Receives what becomes of a migration. */
export interface MigrationReport {
  /** Documents of a collection were read. */
  readonly part: (collection: string, documents: number) => void;
  /** The migration is recorded as run, or as undone. */
  readonly done: (changed: number) => void;
  /** The migration ended, done or not. */
  readonly end?: (() => void) | undefined;
}

/** How migrations run. */
export interface MigrationRun {
  readonly definitions: ReadonlyMap<string, CollectionDefinition<object>>;
  readonly direction: Direction;
  /** Returns which of them run; it is called while no other process runs any. */
  readonly choose: (status: MigrationStatus) => readonly DocumentMigration[];
  /** Reports a migration that begins; `documents` are those of its collections. */
  readonly begin: (migration: DocumentMigration, documents: number) => MigrationReport;
  /** Ends it between two parts. */
  readonly signal: AbortSignal;
  /** Milliseconds to wait for a process that runs migrations. Default: `10_000`. */
  readonly wait?: number | undefined;
}

/**
 * Runs migrations one after the other, while no other process runs any; returns their number.
 *
 * @throws DocumentsError `ERR_DOCUMENTS_LOCKED` when another process runs migrations,
 *   `ERR_DOCUMENTS_MIGRATION` when those of the store are not among these.
 */
export async function runMigrations(
  store: Store,
  migrations: readonly DocumentMigration[],
  run: MigrationRun,
): Promise<number> {
  const { choose, direction, signal, wait } = run;
  const work = async (held: AbortSignal): Promise<number> => {
    const status = await migrationStatus(store, migrations);
    await forgetFinished(store, migrations, status);
    await refuseHalf(store, migrations, { direction, applied: status.applied });
    const chosen = choose(status);
    const signals = AbortSignal.any([held, signal]);
    for (const migration of chosen) await runOne(store, migration, { ...run, signal: signals });
    return chosen.length;
  };
  // A process that was killed holds the lock for five seconds.
  return await store.lock("fetchwork:migrate", work, { expiry: 5_000, wait });
}

/**
 * Removes notes of recorded migrations: a process was killed between the record and the removal.
 * They would refuse the other direction, and make the next run of the migration do nothing.
 */
async function forgetFinished(
  store: Store,
  migrations: readonly DocumentMigration[],
  { applied }: MigrationStatus,
): Promise<void> {
  const notes = store.collection(progressCollection);
  for (const migration of migrations) {
    const isApplied = applied.some(({ id }) => id === migration.id);
    const id = progressId(migration, isApplied ? "up" : "undo");
    const note = await notes.get(id);
    if (note !== undefined && note.step >= namesOf(migration).length) await notes.remove(id);
  }
}

/** Refuses a run while a migration stopped in the middle of the other direction. */
async function refuseHalf(
  store: Store,
  migrations: readonly DocumentMigration[],
  { direction, applied }: Pick<MigrationRun, "direction"> & Pick<MigrationStatus, "applied">,
): Promise<void> {
  const other = direction === "up" ? "undo" : "up";
  for (const migration of migrations) {
    const { id } = migration;
    const note = await store.collection(progressCollection).get(progressId(migration, other));
    if (note === undefined) continue;
    const again = applied.some((each) => each.id === id) ? `run --again ${id}` : "run";
    const command = `fetchwork migrate ${other === "up" ? again : "undo"}`;
    throw new Error(`migration ${id} stopped in the middle: "${command}" goes on with it`);
  }
}

async function runOne(
  store: Store,
  migration: DocumentMigration,
  { begin, definitions, direction, signal }: MigrationRun,
): Promise<void> {
  const { id, name } = migration;
  const { collections } = await administer(store).status();
  const names = namesOf(migration);
  const documents = collections.reduce(
    (sum, each) => sum + (names.includes(each.name) ? each.documents : 0),
    0,
  );
  const report = begin(migration, documents);
  let changed: number;
  try {
    const onPart = report.part;
    changed = await runParts(store, migration, { definitions, direction, signal, onPart });
  } finally {
    report.end?.();
  }
  // First the record: after a crash between the two, nothing runs again.
  await administer(store).load((loading) =>
    direction === "up"
      ? loading.noteMigrations([{ id, name, at: new Date().toISOString() }])
      : loading.forgetMigration(id),
  );
  await store.collection(progressCollection).remove(progressId(migration, direction));
  report.done(changed);
}
