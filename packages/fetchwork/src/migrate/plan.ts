import { relative } from "node:path";
import { migrationStatus } from "@fetchwork/service/internal";
import { type Command, defineCommand } from "../command/command.ts";
import { exitCodes } from "../command/exit-codes.ts";
import { colours, jsonLine, oneLine } from "../command/terminal-text.ts";
import { CommandUsageError } from "../command/usage-error.ts";
import { definitionsOption } from "../db/definitions.ts";
import { storeUrl, tryExisting, urlOption } from "../db/store-url.ts";
import { compareStore } from "./compare-store.ts";
import { describePlan } from "./describe-plan.ts";
import {
  folderOption,
  loadMigrations,
  migrationsFolder,
  requireMigrationName,
  writeMigration,
} from "./migration-files.ts";
import type { MigrationPlan } from "./migration-plan.ts";
import { migrationName, migrationSource } from "./migration-source.ts";
import { loadModels } from "./model.ts";

/** `fetchwork migrate plan`. */
export const plan: Command = defineCommand({
  summary: "Count the documents that do not fit the models; exits with 1 when any does not",
  options: {
    ...urlOption,
    ...definitionsOption,
    ...folderOption,
    write: { type: "boolean", description: "Write a migration for what breaks" },
    name: {
      type: "string",
      description: "Name of the migration: lower-case letters, digits and hyphens (with --write)",
    },
    json: { type: "boolean", description: "Print JSON" },
  },
  async run({ values }, io) {
    const { json = false, name, write = false } = values;
    if (name !== undefined && !write) throw new CommandUsageError("--name needs --write");
    if (name !== undefined) requireMigrationName(name);
    const models = await loadModels(values.definitions, io);
    const folder =
      write || values.folder !== undefined || values.definitions === undefined
        ? migrationsFolder(values.folder, io)
        : undefined;
    const migrations = folder === undefined ? [] : await loadMigrations(folder);
    await using store = await tryExisting(storeUrl(values.url, io));
    let found: MigrationPlan = { documents: 0, breaks: [], builds: [] };
    let pending: readonly { readonly id: number; readonly name: string }[] = [];
    let last = migrations.at(-1)?.id ?? 0;
    if (store !== undefined) {
      const status = await migrationStatus(store, migrations);
      ({ pending } = status);
      last = Math.max(last, ...status.applied.map(({ id }) => id));
      found = await compareStore(store, models, { signal: io.signal });
    }
    if (write && pending.length > 0) {
      throw new Error("there are migrations that did not run: run them before writing another one");
    }
    let file: string | undefined;
    if (write && folder !== undefined && found.breaks.length > 0) {
      const migration = { id: last + 1, name: name ?? migrationName(found.breaks) };
      const source = migrationSource(migration, found.breaks, models);
      file = relative(io.cwd, await writeMigration(folder, { ...migration, source }));
    }
    const code = found.breaks.length > 0 ? exitCodes.failed : exitCodes.ok;
    const waiting = pending.map((each) => ({ id: each.id, name: each.name }));
    if (json) {
      io.stdout.write(
        jsonLine({ ...found, pending: waiting, ...(file === undefined ? {} : { file }) }),
      );
      return code;
    }
    const { red } = colours(io.stdout);
    for (const each of waiting) {
      io.stdout.write(`${red("pending")}   migration ${each.id}: ${oneLine(each.name)}\n`);
    }
    for (const line of describePlan(found)) io.stdout.write(`${line}\n`);
    if (file !== undefined) io.stdout.write(`written: ${oneLine(file, 4096)}\n`);
    return code;
  },
});
