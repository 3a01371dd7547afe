import { administer } from "@fetchwork/documents";
import type { CommandIo } from "../command/command-io.ts";
import { colours, jsonLine, oneLine } from "../command/terminal-text.ts";
import { definitionsOption } from "../db/definitions.ts";
import { documentCount } from "../db/document-count.ts";
import { progressCollection } from "../db/progress-collection.ts";
import { createProgress, jsonOption } from "../db/progress.ts";
import { openExisting, storeUrl, urlOption } from "../db/store-url.ts";
import type { DocumentMigration } from "./document-migration.ts";
import { folderOption, loadMigrations, migrationsFolder } from "./migration-files.ts";
import { type MigrationStatus, migrationStatus } from "./migration-status.ts";
import { loadModels } from "./model.ts";
import { openForChanges, type OpenForChanges } from "./open-for-changes.ts";
import { type Direction, progressId, runParts } from "./run-parts.ts";

/** Options of the commands that run migrations. */
export const changeOptions: typeof urlOption &
  typeof definitionsOption &
  typeof folderOption &
  typeof jsonOption = {
  ...urlOption,
  ...definitionsOption,
  ...folderOption,
  ...jsonOption,
};

/** What of a project's migrations to run, and in which direction. */
export interface Choice {
  readonly direction: Direction;
  /** @throws Error when there is nothing that may be run. */
  readonly choose: (
    status: MigrationStatus,
    migrations: readonly DocumentMigration[],
  ) => readonly DocumentMigration[];
}

/** Runs the chosen migrations one after the other, while no other process runs any; returns their number. */
export async function changeStore(
  values: {
    readonly url?: string | undefined;
    readonly definitions?: string | undefined;
    readonly folder?: string | undefined;
    readonly json?: boolean | undefined;
  },
  io: CommandIo,
  { choose, direction }: Choice,
): Promise<number> {
  const models = await loadModels(values.definitions, io);
  const migrations = await loadMigrations(migrationsFolder(values.folder, io));
  const url = storeUrl(values.url, io);
  const first = await chosen(url, (status) => choose(status, migrations), migrations);
  if (first.length === 0) return 0;
  const opened = await openForChanges(url, models, first);
  await using store = opened.store;
  const work = async (held: AbortSignal): Promise<number> => {
    await refuseHalf(opened, migrations, direction);
    // Another process may have run some of them in the meantime.
    const left = choose(await migrationStatus(store, migrations), migrations);
    const signal = AbortSignal.any([held, io.signal]);
    const run = left.filter((each) => first.includes(each));
    for (const migration of run)
      await runOne(opened, migration, { direction, io, signal, json: values.json === true });
    return run.length;
  };
  // What was killed holds it for five seconds.
  return await store.lock("fetchwork:migrate", work, { expiry: 5_000 });
}

async function chosen(
  url: string,
  choose: (status: MigrationStatus) => readonly DocumentMigration[],
  migrations: readonly DocumentMigration[],
): Promise<readonly DocumentMigration[]> {
  await using store = await openExisting(url);
  return choose(await migrationStatus(store, migrations));
}

/** What stopped in the middle goes on in the same direction only. */
async function refuseHalf(
  { store }: OpenForChanges,
  migrations: readonly DocumentMigration[],
  direction: Direction,
): Promise<void> {
  const [other, command] =
    direction === "up" ? (["undo", "undo"] as const) : (["up", "run"] as const);
  for (const migration of migrations) {
    const note = await store.collection(progressCollection).get(progressId(migration, other));
    if (note === undefined) continue;
    throw new Error(
      `migration ${migration.id} stopped in the middle: "fetchwork migrate ${command}" goes on with it`,
    );
  }
}

async function runOne(
  { definitions, store }: OpenForChanges,
  migration: DocumentMigration,
  {
    direction,
    io,
    json,
    signal,
  }: {
    readonly direction: Direction;
    readonly io: CommandIo;
    readonly json: boolean;
    readonly signal: AbortSignal;
  },
): Promise<void> {
  const { id, name } = migration;
  const { collections } = await administer(store).status();
  const names = new Set(migration.changes.map(({ collection }) => collection));
  const of = collections.reduce(
    (sum, each) => sum + (names.has(each.name) ? each.documents : 0),
    0,
  );
  const progress = createProgress(io, { of, asJson: json });
  let changed: number;
  try {
    const onPart = (collection: string, documents: number): void =>
      progress.add(collection, documents);
    changed = await runParts(store, migration, { definitions, direction, signal, onPart });
  } finally {
    progress.end();
  }
  // First the record: after a crash between the two, nothing runs again.
  await administer(store).load((loading) =>
    direction === "up"
      ? loading.noteMigrations([{ id, name, at: new Date().toISOString() }])
      : loading.forgetMigration(id),
  );
  await store.collection(progressCollection).remove(progressId(migration, direction));
  const word = direction === "up" ? "done" : "undone";
  io.stdout.write(
    json
      ? jsonLine({ id, name, [word]: true, changed })
      : `${colours(io.stdout).green(word)}  migration ${id}: ${oneLine(name)}, ${documentCount(changed)} changed\n`,
  );
}
