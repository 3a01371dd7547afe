import {
  administer,
  type DocumentRecord,
  openStore,
  type Snapshot,
  type Store,
} from "@fetchwork/documents";
import type { CommandIo } from "../command-io.ts";
import { defineCommand, type Command } from "../command.ts";
import { UsageError } from "../usage-error.ts";
import { bareDefinition, definitionsOption, loadDefinitions } from "./definitions.ts";
import { canonical, Digest } from "./digest.ts";
import { refuseOtherMigrations } from "./migrations-fit.ts";
import { createProgress, type Progress } from "./progress.ts";
import { recordBatches } from "./record-batches.ts";
import { buildIndexes } from "./restore.ts";
import { openExisting, storeUrl } from "./store-url.ts";

/** What was copied of a collection, and how it was checked. */
interface Copied {
  readonly collection: string;
  readonly documents: number;
  readonly sha256: string;
}

/** `fetchwork db copy`. */
export const copy: Command = defineCommand({
  summary: "Copy a store into another one, such as from SQLite to PostgreSQL; goes on after a stop",
  positionals: ["from-url", "to-url"],
  options: {
    ...definitionsOption,
    json: { type: "boolean", description: "Print JSON, and the progress as lines of JSON" },
  },
  async run({ values, positionals: [from = "", to = ""] }, io) {
    const fromUrl = storeUrl(from, io);
    const toUrl = storeUrl(to, io);
    if (fromUrl === toUrl) throw new UsageError("both URLs name the same store");
    const { collections } = await loadDefinitions(values.definitions, io);
    const asJson = values.json === true;
    await using source = await openExisting(fromUrl);
    const target = await openStore(toUrl);
    const copied: Copied[] = [];
    try {
      await administer(source).snapshot(async (snapshot) => {
        const { status } = snapshot;
        const held = await administer(target).status();
        refuseOtherMigrations(held.migrations, status.migrations);
        refuseOthers(held, status);
        const of = status.collections.reduce((sum, { documents }) => sum + documents, 0);
        const progress = createProgress(io, { of, asJson });
        try {
          for (const { name } of status.collections) {
            copied.push(await copyCollection(name, { snapshot, target, io, progress }));
          }
        } finally {
          progress.end();
        }
        await administer(target).load((loading) => loading.noteMigrations(status.migrations));
      });
    } finally {
      await target.close();
    }
    const present = new Set(copied.map(({ collection }) => collection));
    await buildIndexes(
      toUrl,
      collections.filter(({ name }) => present.has(name)),
    );
    if (asJson) io.stdout.write(`${JSON.stringify({ collections: copied })}\n`);
    else {
      for (const { collection, documents, sha256 } of copied) {
        io.stdout.write(`collection ${collection}: ${documents} documents, SHA-256 ${sha256}\n`);
      }
    }
    return 0;
  },
});

/** Refuses a target with collections that the source does not have. */
function refuseOthers(held: Snapshot["status"], status: Snapshot["status"]): void {
  const names = new Set(status.collections.map(({ name }) => name));
  for (const { name, documents } of held.collections) {
    if (!names.has(name) && documents > 0) {
      throw new Error(`The target is no copy that was interrupted: "${name}" is only there`);
    }
  }
}

/** Copies what the target does not have yet, and compares all of both. */
async function copyCollection(
  name: string,
  {
    snapshot,
    target,
    io,
    progress,
  }: {
    readonly snapshot: Snapshot;
    readonly target: Store;
    readonly io: CommandIo;
    readonly progress: Progress;
  },
): Promise<Copied> {
  const care = administer(target);
  const digest = new Digest();
  const records = snapshot.records(name)[Symbol.asyncIterator]();
  await care.snapshot(async (there) => {
    if (!there.status.collections.some((each) => each.name === name)) return;
    for await (const record of there.records(name)) {
      const next = await records.next();
      if (next.done === true || canonical(next.value) !== canonical(record)) {
        throw new Error(
          `The target has another document in "${name}" than the source; expected an empty store, ` +
            "or a copy that was interrupted, of a source that did not change since",
        );
      }
      digest.add(record);
    }
  });
  progress.add(name, digest.documents);
  // Whether documents were removed is only known after them, so the table allows for it.
  const definition = bareDefinition(name, { softDelete: true });
  if (digest.documents === 0) await care.load((loading) => loading.add(definition, []));
  for await (const batch of recordBatches(remaining(name, records))) {
    io.signal.throwIfAborted();
    await care.load((loading) => loading.add(definition, batch.records));
    for (const record of batch.records) digest.add(record);
    progress.add(name, batch.records.length);
  }
  const expected = digest.end();
  const found = new Digest();
  await care.snapshot(async (there) => {
    for await (const record of there.records(name)) found.add(record);
  });
  if (found.documents !== digest.documents || found.end() !== expected) {
    throw new Error(
      `The copy of "${name}" differs: ${found.documents} documents, expected ${digest.documents}`,
    );
  }
  return { collection: name, documents: digest.documents, sha256: expected };
}

async function* remaining(
  collection: string,
  records: AsyncIterator<DocumentRecord>,
): AsyncGenerator<{ readonly collection: string; readonly record: DocumentRecord }> {
  for (let next = await records.next(); next.done !== true; next = await records.next()) {
    yield { collection, record: next.value };
  }
}
