import { resolve } from "node:path";
import {
  administer,
  type CollectionDefinition,
  defineCollection,
  openStore,
  type Store,
} from "@fetchwork/documents";
import { shownUrl } from "@fetchwork/service/internal";
import type { CommandIo } from "../command/command-io.ts";
import { defineCommand, type Command } from "../command/command.ts";
import { jsonLine, oneLine } from "../command/terminal-text.ts";
import { CommandUsageError } from "../command/usage-error.ts";
import type { BackupHeader, BackupLine } from "./backup-format.ts";
import { definitionsOption, loadHelpfulDefinitions } from "./definitions.ts";
import { documentCount } from "./document-count.ts";
import { createProgress, jsonOption } from "./progress.ts";
import { readBackup } from "./read-backup.ts";
import { recordBatches } from "./record-batches.ts";
import { storeUrl, urlOption } from "./store-url.ts";

/** The result of a first reading of a backup. */
interface Contents {
  readonly header: BackupHeader;
  readonly documents: number;
  /** The collections with soft-deleted documents. */
  readonly withRemoved: ReadonlySet<string>;
}

/** `fetchwork db restore`. */
export const restore: Command = defineCommand({
  summary: "Restore a backup into an empty store, all or nothing",
  positionals: ["file"],
  options: {
    ...urlOption,
    ...definitionsOption,
    distributed: {
      type: "boolean",
      description: "Create the store for Citus, which spreads its tables over its servers",
    },
    ...jsonOption,
  },
  async run({ values, positionals: [file = ""] }, io) {
    const url = storeUrl(values.url, io);
    if (values.distributed === true && !/^postgres/i.test(url)) {
      throw new CommandUsageError("--distributed requires a store in PostgreSQL");
    }
    const collections = await loadHelpfulDefinitions(values.definitions, io);
    const path = resolve(io.cwd, file);
    const asJson = values.json === true;
    const contents = await readWhole(path, io.signal);
    const { header, documents } = contents;
    const store = await openStore(url, { postgres: { distributed: values.distributed } });
    try {
      await refuseFull(store, header, url);
      await load(store, path, contents, { asJson, io });
    } finally {
      await store.close();
    }
    io.stdout.write(asJson ? jsonLine({ documents }) : `${documentCount(documents)} restored\n`);
    const given = new Map(collections.map((each) => [each.name, each]));
    const wanted = header.collections.map((each) => given.get(each.name) ?? each);
    await buildIndexes(
      url,
      wanted.filter((each) => !isBare(each)),
    );
    return 0;
  },
});

/** Builds what definitions ask for, after the documents are there. */
export async function buildIndexes(
  url: string,
  collections: readonly CollectionDefinition<object>[],
): Promise<void> {
  if (collections.length === 0) return;
  await using store = await openStore(url, { collections });
  await administer(store).built();
}

/** Reads all of a backup before anything is done with it. */
async function readWhole(path: string, signal: AbortSignal): Promise<Contents> {
  let header: BackupHeader | undefined;
  let documents = 0;
  const withRemoved = new Set<string>();
  for await (const part of readBackup(path)) {
    signal.throwIfAborted();
    if ("format" in part) {
      header = part;
      continue;
    }
    documents += 1;
    if (part.record.deletedAt !== undefined) withRemoved.add(part.collection);
  }
  if (header === undefined) throw new Error("the backup is empty");
  return { header, documents, withRemoved };
}

async function refuseFull(store: Store, { migrations }: BackupHeader, url: string): Promise<void> {
  await administer(store).snapshot(async ({ status, records }) => {
    const full: string[] = [];
    for (const { name } of status.collections) {
      const first = await records(name)[Symbol.asyncIterator]().next();
      if (first.done !== true) full.push(`"${oneLine(name)}"`);
    }
    if (full.length > 0) {
      const shown = full.length > 3 ? [...full.slice(0, 3), "…"] : full;
      throw new Error(
        `${shownUrl(url)} already has documents (${shown.join(", ")}): restore into a new store, with another --url`,
      );
    }
    // Nothing would run them again for documents that did not see them.
    const seen = new Map(migrations.map(({ id, name }) => [id, name]));
    const missed = status.migrations.find(({ id, name }) => seen.get(id) !== name);
    if (missed === undefined) return;
    throw new Error(
      `the store has run migration ${missed.id} (${missed.name}), which the backup has not; expected a new store`,
    );
  });
}

/** Fills the store in one transaction, rolled back if the file changed since it was first read. */
async function load(
  store: Store,
  path: string,
  { header, documents, withRemoved }: Contents,
  { asJson, io }: { readonly asJson: boolean; readonly io: CommandIo },
): Promise<void> {
  const progress = createProgress(io, { of: documents, asJson });
  const definitions = new Map(
    header.collections.map(({ name, softDelete = false }) => [
      name,
      defineCollection(name, { softDelete: softDelete || withRemoved.has(name) }),
    ]),
  );
  try {
    await administer(store).load(async (loading) => {
      for (const definition of definitions.values()) await loading.add(definition, []);
      for await (const { collection, records } of recordBatches(documentsOf(path))) {
        io.signal.throwIfAborted();
        const definition = definitions.get(collection);
        if (definition === undefined) {
          throw new Error(
            "the backup has a document of a collection that its header does not list",
          );
        }
        await loading.add(definition, records);
        progress.add(collection, records.length);
      }
      await loading.noteMigrations(header.migrations);
    });
  } finally {
    progress.end();
  }
}

async function* documentsOf(path: string): AsyncGenerator<BackupLine> {
  for await (const part of readBackup(path)) if ("record" in part) yield part;
}

function isBare(definition: CollectionDefinition<object>): boolean {
  const { unique, indexes, search, expires, geo = [] } = definition;
  return [...unique, ...indexes, ...search, ...geo].length === 0 && expires === undefined;
}
