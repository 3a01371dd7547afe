import {
  administer,
  type CollectionDefinition,
  defineCollection,
  openStore,
  type Store,
} from "@fetchwork/documents";
import type { DocumentMigration } from "@fetchwork/service";
import {
  type Direction,
  migrationStatus,
  progressCollection,
  runMigrations,
} from "@fetchwork/service/internal";
import type { CommandIo } from "../command/command-io.ts";
import { type Command, defineCommand, type OptionValues } from "../command/command.ts";
import { exitCodes } from "../command/exit-codes.ts";
import { colours, jsonLine, oneLine } from "../command/terminal-text.ts";
import { CommandUsageError } from "../command/usage-error.ts";
import { count } from "../command/whole-number.ts";
import { definitionsOption } from "../db/definitions.ts";
import { isIndexMissing } from "../db/describe-step.ts";
import { documentCount } from "../db/document-count.ts";
import { createProgress, jsonOption } from "../db/progress.ts";
import { openExisting, storeUrl, urlOption } from "../db/store-url.ts";
import { folderOption, loadMigrations, migrationsFolder } from "./migration-files.ts";
import { loadModels, type Model } from "./model.ts";

const options = { ...urlOption, ...definitionsOption, ...folderOption, ...jsonOption };

/** `fetchwork migrate run`. */
export const run: Command = defineCommand({
  summary: "Run pending migrations in parts, while programs serve; one that was killed goes on",
  options: {
    ...options,
    again: {
      type: "string",
      hint: "number",
      description: "Run this migration again, for what older programs wrote after it ran",
    },
  },
  run({ values }, io) {
    const again = count("again", values.again, Number.MAX_SAFE_INTEGER);
    return changeStore(values, io, "up", ({ applied, pending }) => {
      if (again === undefined) return pending.map(({ id }) => id);
      if (applied.some(({ id }) => id === again)) return [again];
      throw new CommandUsageError(`--again: migration ${again} did not run yet`);
    });
  },
});

/** `fetchwork migrate undo`. */
export const undo: Command = defineCommand({
  summary: "Undo the last migration in parts, where each of its changes has an undo",
  options,
  run({ values }, io) {
    return changeStore(values, io, "undo", ({ applied }) => applied.slice(-1).map(({ id }) => id));
  },
});

/** Runs migrations that are chosen by number, while no other process runs any. */
async function changeStore(
  values: OptionValues<typeof options>,
  io: CommandIo,
  direction: Direction,
  choose: (status: Awaited<ReturnType<typeof migrationStatus>>) => readonly number[],
): Promise<number> {
  const models = await loadModels(values.definitions, io);
  const migrations = await loadMigrations(migrationsFolder(values.folder, io));
  const url = storeUrl(values.url, io);
  await using existing = await openExisting(url);
  const ids = choose(await migrationStatus(existing, migrations));
  const chosen = migrations.filter(({ id }) => ids.includes(id));
  const definitions = await definitionsFor(existing, models, chosen, direction);
  await existing.close();
  let count = 0;
  if (chosen.length > 0) {
    const collections = [progressCollection, ...definitions.values()];
    await using store = await openStore(url, { create: false, collections });
    count = await runMigrations(store, migrations, {
      definitions,
      direction,
      // Another process may have run some of them in the meantime.
      choose: (status) => chosen.filter(({ id }) => choose(status).includes(id)),
      begin: ({ id, name }, of) => {
        const isJson = values.json === true;
        const { add, end } = createProgress(io, { of, asJson: isJson });
        const word = direction === "up" ? "done" : "undone";
        const title = `${colours(io.stdout).green(word)}  migration ${id}: ${oneLine(name)}`;
        const done = (changed: number): void => {
          const line = isJson
            ? jsonLine({ id, name, [word]: true, changed })
            : `${title}, ${documentCount(changed)} changed\n`;
          io.stdout.write(line);
        };
        return { part: add, end, done };
      },
      signal: io.signal,
    });
  }
  if (count === 0) io.stderr.write("Nothing to do\n");
  return exitCodes.ok;
}

/**
 * Returns definitions without schemas and without unique indexes that the store lacks: migrations
 * make the documents fit them. Other indexes and searches are built first.
 *
 * @throws Error for a migration that cannot be undone, or of a collection without a model.
 */
async function definitionsFor(
  store: Store,
  models: readonly Model[],
  chosen: readonly DocumentMigration[],
  direction: Direction,
): Promise<ReadonlyMap<string, CollectionDefinition<object>>> {
  const collections = new Map(models.map(({ collection }) => [collection.name, collection]));
  const steps = await administer(store).plan({ collections: [...collections.values()] });
  const definitions = new Map<string, CollectionDefinition<object>>();
  for (const { collection, undo } of chosen.flatMap(({ changes }) => changes)) {
    const definition = collections.get(collection);
    if (definition === undefined) {
      throw new Error(`a migration changes "${collection}", which the project does not define`);
    }
    if (direction === "undo" && undo === undefined) {
      throw new Error(
        `the last migration cannot be undone: the change of "${collection}" has no undo ` +
          "(`undo: () => undefined` where earlier versions read its documents as they are)",
      );
    }
    const { name, unique, ...rest } = definition;
    const built = unique.filter((fields) => !isIndexMissing(steps, name, fields));
    // The fields were checked by the definition that they are of.
    const checked: object = { ...rest, unique: built };
    definitions.set(name, defineCollection(name, checked));
  }
  return definitions;
}
