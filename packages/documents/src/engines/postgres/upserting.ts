import type { Stored } from "../../api/document.ts";
import { DocumentsError, UniqueError } from "../../api/errors.ts";
import { parseJsonText } from "../../document/json-text.ts";
import type { Filter } from "../../query/filter.ts";
import type { NewDocument, Target } from "../../query/targets.ts";
import { toDocumentsError } from "./postgres-error.ts";
import { readOne } from "./reading.ts";
import type { Session } from "./session.ts";
import type { Table } from "./table.ts";
import { changeOne, findByFields, insertAll } from "./writing.ts";

const ATTEMPTS = 10;

/** A document to be added, or what to make of the one that is there. */
export interface Upsert<T> {
  readonly id: string | undefined;
  /** Finds the document when there is no id. */
  readonly filter: Filter;
  /** The JSON text of the document to add. */
  readonly text: string;
  readonly make: (stored: Stored<T>) => unknown;
}

/** Adds a document. */
export async function insertOne<T>(
  session: Session,
  table: Table,
  added: NewDocument,
): Promise<Stored<T>> {
  const [stored] = await insertAll<T>(session, table, [added]);
  if (stored !== undefined) return stored;
  throw new DocumentsError("ERR_DOCUMENTS_ENGINE", "PostgreSQL added nothing");
}

/** Adds a document, or changes the one that is there, also when others do the same. */
export async function upsertOne<T>(
  session: Session,
  table: Table,
  upsert: Upsert<T>,
): Promise<Stored<T>> {
  const { id, filter, text } = upsert;
  for (let attempt = 1; ; attempt += 1) {
    const found = id ?? (await findByFields(session, table, filter));
    const changed =
      found === undefined ? undefined : await changeOrRestore(session, table, found, upsert);
    if (changed !== undefined) return changed;
    try {
      return await insertOne(session, table, { id, text });
    } catch (error) {
      // Somebody else may have added it since it was looked for.
      const isTaken = toDocumentsError(error, table) instanceof UniqueError;
      if (!isTaken || attempt === ATTEMPTS) throw error;
      const now = id ?? (await findByFields(session, table, filter));
      const isGone = id !== undefined && (await readOne(session, table, id)) === undefined;
      if (now === undefined || isGone) throw error;
    }
  }
}

/** Changes the document, or the one that was removed, whose content does not come back. */
async function changeOrRestore<T>(
  session: Session,
  table: Table,
  id: string,
  { make, text }: Upsert<T>,
): Promise<Stored<T> | undefined> {
  const target: Target = { id, ifVersion: undefined };
  const changed = await changeOne<T>(session, table, target, { make });
  if (changed !== undefined || !table.softDelete) return changed;
  return changeOne<T>(session, table, target, {
    make: () => parseJsonText(text),
    restores: true,
  });
}
