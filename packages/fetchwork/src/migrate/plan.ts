import { relative } from "node:path";
import { openStore } from "@fetchwork/documents";
import { migrationStatus } from "@fetchwork/service/internal";
import { type Command, defineCommand } from "../command/command.ts";
import { exitCodes } from "../command/exit-codes.ts";
import { colours, jsonLine, oneLine } from "../command/terminal-text.ts";
import { definitionsOption } from "../db/definitions.ts";
import { documentCount } from "../db/document-count.ts";
import { storeUrl, tryExisting, urlOption } from "../db/store-url.ts";
import { compareStore } from "./compare-store.ts";
import {
  folderOption,
  loadMigrations,
  migrationsFolder,
  requireMigrationName,
  writeMigration,
} from "./migration-files.ts";
import type { Break, Build } from "./migration-plan.ts";
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
    if (name !== undefined) requireMigrationName(name, { write });
    const models = await loadModels(values.definitions, io);
    const isInProject = write || values.folder !== undefined || values.definitions === undefined;
    // Definitions of another program have no migrations here.
    const folder = isInProject ? migrationsFolder(values.folder, io) : "";
    const migrations = await loadMigrations(folder);
    // A missing store is planned as an empty one.
    const url = storeUrl(values.url, io);
    await using store = (await tryExisting(url)) ?? (await openStore("sqlite::memory:"));
    const status = await migrationStatus(store, migrations);
    const pending = status.pending.map(({ id, name: title }) => ({ id, name: title }));
    if (write && pending.length > 0) {
      throw new Error("there are migrations that did not run: run them before writing another one");
    }
    const found = await compareStore(store, models, io.signal);
    const { breaks, builds, documents } = found;
    let file: string | undefined;
    if (write && breaks.length > 0) {
      const id = (migrations.at(-1)?.id ?? 0) + 1;
      const migration = { id, name: name ?? migrationName(breaks) };
      const source = migrationSource(migration, breaks, models);
      file = relative(io.cwd, await writeMigration(folder, { ...migration, source }));
    }
    const { red } = colours(io.stdout);
    const count = breaks.length === 1 ? "1 change breaks" : `${breaks.length} changes break`;
    const end = breaks.length === 0 ? "every one fits the models" : `${count} some of them`;
    const lines = [
      ...pending.map((each) => `${red("pending")}   migration ${each.id}: ${oneLine(each.name)}`),
      ...breaks.flatMap(describeBreak),
      ...builds.map(describeBuild),
      `${documentCount(documents)} read: ${end}`,
      ...(file === undefined ? [] : [`written: ${oneLine(file, 4096)}`]),
    ];
    io.stdout.write(json ? jsonLine({ ...found, pending, file }) : `${lines.join("\n")}\n`);
    return breaks.length === 0 ? exitCodes.ok : exitCodes.failed;
  },
});

function describeBreak({ collection, documents, expected, field, ids, kind }: Break): string[] {
  const more = documents > ids.length ? ", …" : "";
  const subject = `${kind.padEnd(8)}  ${collection}.${field}`;
  return [
    oneLine(`${subject}: ${documentCount(documents)}, expected ${expected}`, 400),
    oneLine(`          ${ids.join(", ")}${more}`, 500),
  ];
}

function describeBuild({ collection, cost, documents, fields, kind }: Build): string {
  const list = fields.length === 0 ? "" : ` (${fields.join(", ")})`;
  const subject = `build     ${collection}: ${kind}${list}`;
  return oneLine(`${subject} at the next start, ${cost}: ${documentCount(documents)}`, 400);
}
