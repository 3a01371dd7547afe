import { DocumentsError } from "./errors.ts";

/** Reports a call of a store that was closed. */
export function closedError(): DocumentsError {
  return new DocumentsError("ERR_DOCUMENTS_CLOSED", "the store is closed");
}
