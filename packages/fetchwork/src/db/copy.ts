import { administer, type DocumentRecord, type Snapshot, type Store } from "@fetchwork/documents";
import type { CommandIo } from "../command/command-io.ts";
import { defineCommand, type Command } from "../command/command.ts";
import { jsonLine, oneLine } from "../command/terminal-text.ts";
import { CommandUsageError } from "../command/usage-error.ts";
import { bareDefinition, definitionsOption, loadHelpfulDefinitions } from "./definitions.ts";
import { canonical, Digest } from "./digest.ts";
import { documentCount } from "./document-count.ts";
import { refuseOtherMigrations } from "./refuse-other-migrations.ts";
import { createProgress, jsonOption, type Progress } from "./progress.ts";
import { recordBatches } from "./record-batches.ts";
import { buildIndexes } from "./restore.ts";
import { distributedOption, openExisting, openTarget, storeUrl } from "./store-url.ts";

/** What was copied of a collection, with its checksum. */
interface Copied {
  readonly collection: string;
  readonly documents: number;
  readonly sha256: string;
}

/** `fetchwork db copy`. */
export const copy: Command = defineCommand({
  summary:
    "Copy a store into another, such as from SQLite to PostgreSQL; an interrupted copy can be continued",
  positionals: ["from-url", "to-url"],
  options: {
    ...definitionsOption,
    ...distributedOption,
    ...jsonOption,
  },
  async run({ values, positionals: [from = "", to = ""] }, io) {
    const fromUrl = storeUrl(from, io);
    const toUrl = storeUrl(to, io);
    if (fromUrl === toUrl) throw new CommandUsageError("both URLs refer to the same store");
    const collections = await loadHelpfulDefinitions(values.definitions, io);
    const asJson = values.json === true;
    await using source = await openExisting(fromUrl);
    const target = await openTarget(toUrl, values);
    const copied: Copied[] = [];
    try {
      await administer(source).snapshot(async (snapshot) => {
        const { status } = snapshot;
        const begun = await administer(target).snapshot((there) =>
          compare(snapshot, there, io.signal),
        );
        const of = status.collections.reduce((sum, { documents }) => sum + documents, 0);
        const progress = createProgress(io, { of, asJson });
        try {
          for (const each of begun) {
            copied.push(await copyCollection(each, { snapshot, target, io, progress }));
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
    if (asJson) io.stdout.write(jsonLine({ collections: copied }));
    else {
      for (const { collection, documents, sha256 } of copied) {
        const name = oneLine(collection);
        io.stdout.write(`collection ${name}: ${documentCount(documents)}, SHA-256 ${sha256}\n`);
      }
    }
    return 0;
  },
});

/** A collection of which a part may be in the target. */
interface Begun {
  readonly name: string;
  /** What the target has of it. */
  readonly digest: Digest;
  /** The id of its last document; the copy continues after it. */
  readonly after: string;
}

/**
 * Compares all that the target has with the source, before anything is written there.
 *
 * @throws When it has anything that the source does not have.
 */
async function compare(
  { status, records }: Snapshot,
  there: Snapshot,
  signal: AbortSignal,
): Promise<readonly Begun[]> {
  refuseOtherMigrations(there.status.migrations, status.migrations);
  const names = new Set(status.collections.map(({ name }) => name));
  const held = new Set<string>();
  for (const { name } of there.status.collections) {
    held.add(name);
    if (names.has(name)) continue;
    // Soft-deleted documents are not in the count.
    const first = await there.records(name)[Symbol.asyncIterator]().next();
    if (first.done === true) continue;
    throw new Error(`the target is not an interrupted copy: "${name}" exists only there`);
  }
  const begun: Begun[] = [];
  for (const name of names) {
    const digest = new Digest();
    let after = "";
    const expected = records(name)[Symbol.asyncIterator]();
    for await (const record of held.has(name) ? there.records(name) : []) {
      signal.throwIfAborted();
      const next = await expected.next();
      if (next.done === true || canonical(next.value) !== canonical(record)) {
        throw new Error(
          `the target has a document in "${name}" that differs from the source; expected an empty store ` +
            "or an interrupted copy of an unchanged source",
        );
      }
      digest.add(record);
      after = record.id;
    }
    begun.push({ name, digest, after });
  }
  return begun;
}

/** Copies what the target does not have yet, and compares all of both. */
async function copyCollection(
  { name, digest, after }: Begun,
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
  progress.add(name, digest.documents);
  // Whether documents were removed is only known after them, so the table allows for it.
  const definition = bareDefinition(name, { softDelete: true });
  if (digest.documents === 0) await care.load((loading) => loading.add(definition, []));
  for await (const batch of recordBatches(remaining(name, snapshot.records(name, { after })))) {
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
      `the copy of "${name}" differs: ${documentCount(found.documents)}, expected ${digest.documents}`,
    );
  }
  return { collection: name, documents: digest.documents, sha256: expected };
}

async function* remaining(
  collection: string,
  records: AsyncIterable<DocumentRecord>,
): AsyncGenerator<{ readonly collection: string; readonly record: DocumentRecord }> {
  for await (const record of records) yield { collection, record };
}
