import {
  VersionError,
  type Collection,
  type CollectionDefinition,
  type Store,
  type Stored,
  type Transaction,
} from "@fetchwork/documents";
import { etagOf, requirePreconditions } from "../etag.ts";
import { notFound } from "../problem.ts";

/** Document that {@link writeConditionally} changes. */
export interface WriteTarget<T extends object> {
  readonly store: Store;
  /** Where the change is made, when it is part of a transaction. Default: in the store. */
  readonly transaction?: Transaction | undefined;
  readonly collection: CollectionDefinition<T>;
  readonly id: string;
  /** Name of the document in a 404. Default: `"document"`. */
  readonly name?: string | undefined;
  /** Its `If-Match` and `If-None-Match` are applied. */
  readonly request: Request;
  /** The document as it was read for this request. Default: it is read. */
  readonly current?: Stored<T> | undefined;
  /**
   * Checks a document that was read here, before anything else, in the transaction of the change if
   * it has one; refuses by throwing. Default: no check.
   */
  readonly check?:
    | ((current: Stored<T>, transaction: Transaction | undefined) => Promise<void> | void)
    | undefined;
  /** Entity tag of the document at this address. Default: `etagOf(current)`. */
  readonly etag?: ((current: Stored<T>) => string) | undefined;
}

/**
 * Decides on the ground of the current document and makes the change, with `ifVersion: current`.
 * Called again when somebody else came between. Resolves to `undefined` when the document is gone.
 */
export type ConditionalWrite<T extends object, R> = (
  current: Stored<T>,
  documents: Collection<T>,
) => Promise<R | undefined>;

/** Tries without holding others up; those who lose more often take a transaction. */
const freeTries = 3;

/**
 * Changes a document without losing what others change at the same time.
 *
 * @throws Problem 404 when there is no such document, 412 when `If-Match` or `If-None-Match` does
 * not hold.
 */
export async function writeConditionally<T extends object, R>(
  target: WriteTarget<T>,
  write: ConditionalWrite<T, R>,
): Promise<R> {
  const { store, transaction, collection } = target;
  const afresh = { ...target, current: undefined };
  if (transaction) return writeOnce(afresh, transaction.collection(collection), write);
  for (let tries = 0; tries < freeTries; tries += 1) {
    try {
      const { current } = tries === 0 ? target : {};
      return await writeOnce({ ...target, current }, store.collection(collection), write);
    } catch (error) {
      if (!(error instanceof VersionError)) throw error;
    }
  }
  return store.transaction((alone) =>
    writeOnce({ ...afresh, transaction: alone }, alone.collection(collection), write),
  );
}

async function writeOnce<T extends object, R>(
  { id, name, request, etag, check, current: known, transaction }: WriteTarget<T>,
  documents: Collection<T>,
  write: ConditionalWrite<T, R>,
): Promise<R> {
  const current = known ?? (await documents.get(id));
  if (!current) throw notFound(name);
  if (check && !known) await check(current, transaction);
  requirePreconditions(request, etag ? etag(current) : etagOf(current));
  const result = await write(current, documents);
  if (result === undefined) throw notFound(name);
  return result;
}
