import { isDeepStrictEqual } from "node:util";
import {
  type CollectionDefinition,
  DocumentsError,
  type Store,
  type Stored,
  type Transaction,
} from "@fetchwork/documents";
import { isObject } from "@fetchwork/kit";
import { progressCollection } from "./progress-collection.ts";
import type { DocumentChange, DocumentMigration, MigratedFields } from "./document-migration.ts";

const maxPart = 100;
/** How often in a row a part is read again because a program changed one of its documents. */
const maxConflicts = 100;

/** In which direction a migration runs. */
export type Direction = "undo" | "up";

/** The id of the progress of a migration. */
export function progressId({ id }: { readonly id: number }, direction: Direction): string {
  return `${direction}-${id}`;
}

/** The collections of a migration, in the order of its steps. */
export function namesOf({ changes }: DocumentMigration): readonly string[] {
  return [...new Set(changes.map(({ collection }) => collection))];
}

/**
 * Runs a migration in parts. Each is a transaction with a note up to where it ran: a killed run
 * goes on there, and changes no document twice. Documents that a program changes too are read
 * again. Resolves to the number of changed documents; the caller removes the note after the record.
 */
export async function runParts(
  store: Store,
  migration: DocumentMigration,
  options: {
    readonly definitions: ReadonlyMap<string, CollectionDefinition<object>>;
    readonly direction: Direction;
    readonly signal: AbortSignal;
    readonly onPart: (collection: string, documents: number) => void;
  },
): Promise<number> {
  const { definitions, direction, onPart, signal } = options;
  const names = namesOf(migration);
  const id = progressId(migration, direction);
  let conflicts = 0;
  for (let size = maxPart; ;) {
    signal.throwIfAborted();
    try {
      const part = await store.transaction(async (transaction) => {
        const notes = transaction.collection(progressCollection);
        const found = await notes.get(id);
        const { step = 0, after = "", changed = 0 } = found ?? {};
        const name = names[step];
        const definition = name === undefined ? undefined : definitions.get(name);
        if (name === undefined) return { changed };
        if (definition === undefined) throw new Error(`the project does not define "${name}"`);
        const changes = migration.changes.filter(({ collection }) => collection === name);
        const done = await runPart(transaction, definition, {
          after,
          size,
          change: composed(changes, direction),
        });
        const isLast = done.last === undefined || done.read < size;
        const note = {
          ...(isLast ? { step: step + 1, after: "" } : { step, after: done.last }),
          changed: changed + done.changed,
        };
        if (found === undefined) await notes.insert(note, { id });
        else await notes.replace(id, note);
        return { name, read: done.read };
      });
      if (part.name === undefined) return part.changed;
      onPart(part.name, part.read);
      conflicts = 0;
      size = Math.min(maxPart, size * 2);
    } catch (error) {
      conflicts += 1;
      if (!isConflict(error) || conflicts > maxConflicts) throw error;
      // Fewer documents are held for a shorter time.
      size = Math.ceil(size / 2);
    }
  }
}

async function runPart(
  transaction: Transaction,
  definition: CollectionDefinition<object>,
  {
    after,
    change,
    size,
  }: {
    readonly after: string;
    readonly change: DocumentChange["change"];
    readonly size: number;
  },
): Promise<{ readonly read: number; readonly changed: number; readonly last: string | undefined }> {
  // Stored documents are objects with any fields.
  const collection = transaction.collection(
    definition as CollectionDefinition<Record<string, unknown>>,
  );
  const where = after === "" ? {} : { id: { gt: after } };
  const documents = await collection.find({ where, sort: ["id"], limit: size });
  let changed = 0;
  for (const document of documents) {
    const fields = fieldsOf(document);
    const next = change(structuredClone(fields), document.id);
    if (next === undefined || isDeepStrictEqual(next, fields)) continue;
    if (!isObject(next) || next instanceof Promise) {
      throw new Error(
        `the change of ${definition.name} must return fields or undefined, and no promise`,
      );
    }
    await collection.replace(document.id, { ...next }, { ifVersion: document.version });
    changed += 1;
  }
  return { read: documents.length, changed, last: documents.at(-1)?.id };
}

function fieldsOf(document: Stored<Record<string, unknown>>): MigratedFields {
  const {
    id: _id,
    version: _version,
    createdAt: _created,
    updatedAt: _updated,
    ...fields
  } = document;
  return fields;
}

/** All changes of a collection as one; `undo` is called in the opposite order. */
function composed(
  changes: readonly DocumentChange[],
  direction: Direction,
): DocumentChange["change"] {
  const functions =
    direction === "up"
      ? changes.map(({ change }) => change)
      : changes.toReversed().flatMap(({ undo }) => undo ?? []);
  return (document, id) => {
    let fields: MigratedFields | undefined;
    for (const change of functions) fields = change(fields ?? document, id) ?? fields;
    return fields;
  };
}

function isConflict(error: unknown): boolean {
  return (
    error instanceof DocumentsError &&
    (error.code === "ERR_DOCUMENTS_VERSION" || error.code === "ERR_DOCUMENTS_BUSY")
  );
}
