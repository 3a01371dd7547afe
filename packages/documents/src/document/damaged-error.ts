import { DocumentsError } from "../api/errors.ts";

/** Reports a stored document that cannot be read, before anything is changed. */
export class DamagedError extends DocumentsError {
  constructor(collection: string, id: string) {
    super(
      "ERR_DOCUMENTS_ENGINE",
      `the document ${JSON.stringify(id.slice(0, 128))} of "${collection}" is damaged`,
    );
  }
}
