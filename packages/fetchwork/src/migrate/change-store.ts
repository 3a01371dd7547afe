import type { DocumentMigration } from "@fetchwork/service";
import {
  type Direction,
  type MigrationStatus,
  migrationStatus,
  runMigrations,
} from "@fetchwork/service/internal";
import type { CommandIo } from "../command/command-io.ts";
import { colours, jsonLine, oneLine } from "../command/terminal-text.ts";
import { definitionsOption } from "../db/definitions.ts";
import { documentCount } from "../db/document-count.ts";
import { createProgress, jsonOption } from "../db/progress.ts";
import { openExisting, storeUrl, urlOption } from "../db/store-url.ts";
import { folderOption, loadMigrations, migrationsFolder } from "./migration-files.ts";
import { loadModels } from "./model.ts";
import { openForChanges } from "./open-for-changes.ts";

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
  const { definitions, ...opened } = await openForChanges(url, models, first);
  await using store = opened.store;
  return await runMigrations(store, migrations, {
    definitions,
    direction,
    // Another process may have run some of them in the meantime.
    choose: (status) => choose(status, migrations).filter((each) => first.includes(each)),
    begin: ({ id, name }, of) => {
      const json = values.json === true;
      const progress = createProgress(io, { of, asJson: json });
      const word = direction === "up" ? "done" : "undone";
      return {
        part: (collection, documents) => progress.add(collection, documents),
        end: () => progress.end(),
        done: (changed) => {
          io.stdout.write(
            json
              ? jsonLine({ id, name, [word]: true, changed })
              : `${colours(io.stdout).green(word)}  migration ${id}: ${oneLine(name)}, ${documentCount(changed)} changed\n`,
          );
        },
      };
    },
    signal: io.signal,
  });
}

async function chosen(
  url: string,
  choose: (status: MigrationStatus) => readonly DocumentMigration[],
  migrations: readonly DocumentMigration[],
): Promise<readonly DocumentMigration[]> {
  await using store = await openExisting(url);
  return choose(await migrationStatus(store, migrations));
}
