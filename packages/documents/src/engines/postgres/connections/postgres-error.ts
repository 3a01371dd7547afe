import { DatabaseError } from "pg";
import { DocumentsError, type DocumentsErrorCode, UniqueError } from "../../../api/errors.ts";
import { connectionReason } from "./connection-reason.ts";

// https://www.postgresql.org/docs/current/errcodes-appendix.html
const uniqueViolation = "23505";
const readOnlyTransaction = "25006";
const serializationFailure = "40001";
const deadlockDetected = "40P01";
const lockNotAvailable = "55P03";
const queryCanceled = "57014";
const diskFull = "53100";
const unknownStatement = "26000";
const changedColumns = "0A000";
const lostCodes: ReadonlySet<string> = new Set([
  "57P01", // the server shuts down
  "57P02", // another backend crashed
  "57P05", // idle session timeout
  "25P03", // idle in transaction
]);
const notYetCodes: ReadonlySet<string> = new Set([
  "57P03", // the server starts up
  "53300", // too many connections
]);

/** A Citus server lost another one, by code or words. Its transaction is aborted. */
const connectionClass = /^08/;
const abortedTransaction = "25P02";
const lostServer =
  /unexpected postmaster exit|connection marked as essential|^connection |invalid socket|server closed the connection/;
/** Citus reports what is taken with another code when it moves rows between servers. */
const internalError = "XX000";
const duplicateKey = /^duplicate key value violates unique constraint/;

/** Says that the server that responded is a standby. */
export class NotPrimaryError extends Error {
  override readonly name = "NotPrimaryError";
}

/** Says that the connection broke under a statement. */
export class ConnectionLostError extends Error {
  override readonly name = "ConnectionLostError";
}

/** Reads the SQLSTATE of an error of the server. */
export function sqlState(error: unknown): string | undefined {
  return error instanceof DatabaseError ? error.code : undefined;
}

/** Tells whether a later attempt of the whole transaction can succeed. */
export function isConflict(error: unknown): boolean {
  const code = sqlState(error);
  return code !== undefined && isConflictState(code);
}

/** Tells whether a server reports a conflict with other transactions by a SQLSTATE. */
export function isConflictState(code: string): boolean {
  return [serializationFailure, deadlockDetected, lockNotAvailable].includes(code);
}

/** Whether a connection lacks a prepared statement, or has it for other columns. */
export function isUnprepared(error: unknown): boolean {
  const code = sqlState(error);
  return code === unknownStatement || code === changedColumns;
}

/** Tells whether a server refused a change because it is a standby, so that nothing happened. */
export function isReadOnly(error: unknown): boolean {
  return sqlState(error) === readOnlyTransaction;
}

/** Tells whether the connection broke, or another attempt to connect may succeed. */
export function isConnectionLoss(error: unknown): boolean {
  if (error instanceof NotPrimaryError || error instanceof ConnectionLostError) return true;
  const code = sqlState(error);
  return code !== undefined && (lostCodes.has(code) || notYetCodes.has(code));
}

/** The part of a collection that an error needs. */
interface Collection {
  readonly definition: { readonly name: string };
  /** The fields of a unique index or constraint; undefined for one of somebody else. */
  fieldsOfConstraint(constraint: string): readonly string[] | undefined;
}

/**
 * Turns an error of `pg` into one of this package; passes every other one on.
 *
 * Additions of the server to its message (detail, context) quote values, so they are left out.
 */
export function toDocumentsError(error: unknown, collection?: Collection): unknown {
  if (!(error instanceof DatabaseError)) {
    return isConnectionLoss(error) ? connectionError(error) : error;
  }
  const { code = "" } = error;
  const failure = (reason: DocumentsErrorCode, message: string): DocumentsError =>
    new DocumentsError(reason, message, { cause: plainError(error) });
  if (isTaken(error) && collection !== undefined) {
    const fields = collection.fieldsOfConstraint(constraintOf(error));
    const cause = plainError(error);
    if (fields !== undefined) return new UniqueError(collection.definition.name, fields, { cause });
  }
  if (isConnectionLoss(error)) return connectionError(error);
  if (isServerLost(error)) {
    const reason =
      "a server of the cluster cannot be reached; whether the change was made is unknown";
    return connectionError(error, reason);
  }
  if (isConflict(error)) {
    return failure("ERR_DOCUMENTS_BUSY", "the change conflicts with other changes");
  }
  if (code === queryCanceled) {
    return failure("ERR_DOCUMENTS_TIMEOUT", "PostgreSQL canceled the statement");
  }
  if (code === diskFull) {
    return failure("ERR_DOCUMENTS_FULL", `the disk of PostgreSQL is full: ${describe(error)}`);
  }
  return failure("ERR_DOCUMENTS_ENGINE", `PostgreSQL failed: ${describe(error)}`);
}

function isServerLost({ code = "", message }: DatabaseError): boolean {
  if (connectionClass.test(code) || code === abortedTransaction) return true;
  return code === internalError && lostServer.test(message);
}

function isTaken({ code, message }: DatabaseError): boolean {
  return code === uniqueViolation || (code === internalError && duplicateKey.test(message));
}

/** Says that no connection could be made, without the address, which may hold a password. */
export function connectionError(error: unknown, text?: string): DocumentsError {
  const reason = text === undefined ? undefined : connectionReason(error);
  return new DocumentsError(
    "ERR_DOCUMENTS_CONNECTION",
    text === undefined
      ? "the connection to PostgreSQL was lost; whether the change was made is unknown"
      : `${text}${reason === undefined ? "" : `: ${reason}`}`,
    { cause: plainError(error) },
  );
}

/** Copies the harmless part of an error. */
function plainError(error: unknown): Error {
  if (!(error instanceof Error)) return new Error("an unknown failure");
  const code: unknown = Reflect.get(error, "code");
  const plain = new Error(error instanceof DatabaseError ? describe(error) : error.message);
  return typeof code === "string" ? Object.assign(plain, { code }) : plain;
}

/** Messages about data (class 22) quote it. */
function describe(error: DatabaseError): string {
  const { code = "an unknown state" } = error;
  return code.startsWith("22") ? `SQLSTATE ${code}` : `${error.message} (SQLSTATE ${code})`;
}

/** Citus reports the constraint of a shard, with its number, in the message only. */
function constraintOf({ constraint, message }: DatabaseError): string {
  return constraint ?? /unique constraint "(.*)_\d+"/.exec(message)?.[1] ?? "";
}
