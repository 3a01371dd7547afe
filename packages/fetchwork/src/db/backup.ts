import { existsSync } from "node:fs";
import { dirname, resolve } from "node:path";
import { administer, defineCollection, type Snapshot } from "@fetchwork/documents";
import type { CommandIo } from "../command/command-io.ts";
import { defineCommand, type Command } from "../command/command.ts";
import { jsonLine } from "../command/terminal-text.ts";
import { type BackupLine, FORMAT } from "./backup-format.ts";
import { definitionsOption, loadHelpfulDefinitions } from "./definitions.ts";
import { documentCount } from "./document-count.ts";
import { createProgress, jsonOption, type Progress } from "./progress.ts";
import { openExisting, storeUrl, urlOption } from "./store-url.ts";
import { writeBackup } from "./write-backup.ts";

/** `fetchwork db backup`. */
export const backup: Command = defineCommand({
  summary: "Write a consistent snapshot of a store into a file that every engine can restore",
  positionals: ["file"],
  options: {
    ...urlOption,
    ...definitionsOption,
    ...jsonOption,
  },
  async run({ values, positionals: [file = ""] }, io) {
    const url = storeUrl(values.url, io);
    const collections = await loadHelpfulDefinitions(values.definitions, io);
    const path = resolve(io.cwd, file);
    // Before the work and not only after it, when another program may have been quicker.
    if (existsSync(path)) throw new Error(`${path} already exists`);
    const folder = dirname(path);
    if (!existsSync(folder)) {
      // Never made: it may be where another disk is to be mounted.
      throw new Error(`the folder ${folder} does not exist`);
    }
    const asJson = values.json === true;
    await using store = await openExisting(url);
    const trailer = await administer(store).snapshot(async (snapshot) => {
      const { engine, migrations, collections: held } = snapshot.status;
      const of = held.reduce((sum, { documents }) => sum + documents, 0);
      const progress = createProgress(io, { of, asJson });
      try {
        const header = {
          format: FORMAT,
          version: 1,
          createdAt: new Date().toISOString(),
          engine,
          collections: held.map(
            ({ name }) => collections.find((each) => each.name === name) ?? defineCollection(name),
          ),
          migrations,
        } as const;
        return await writeBackup(path, header, linesOf(snapshot, { io, progress }));
      } finally {
        progress.end();
      }
    });
    const { documents, sha256 } = trailer;
    io.stdout.write(
      asJson
        ? jsonLine({ file: path, documents, sha256 })
        : `${documentCount(documents)} in ${file}, SHA-256 ${sha256}\n`,
    );
    return 0;
  },
});

async function* linesOf(
  { status, records }: Snapshot,
  { io, progress }: { readonly io: CommandIo; readonly progress: Progress },
): AsyncGenerator<BackupLine> {
  const batch = 500;
  for (const { name } of status.collections) {
    let count = 0;
    for await (const record of records(name)) {
      yield { collection: name, record };
      count += 1;
      if (count % batch === 0) {
        io.signal.throwIfAborted();
        progress.add(name, batch);
      }
    }
    progress.add(name, count % batch);
  }
}
