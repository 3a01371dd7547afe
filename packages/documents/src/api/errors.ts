import { FetchworkError, UsageError } from "@fetchwork/kit";

/** The stable code of an error thrown by this package. */
export type DocumentsErrorCode =
  | "ERR_DOCUMENTS_BUSY"
  | "ERR_DOCUMENTS_CANCELLED"
  | "ERR_DOCUMENTS_CLOSED"
  | "ERR_DOCUMENTS_CONNECTION"
  | "ERR_DOCUMENTS_ENGINE"
  | "ERR_DOCUMENTS_FULL"
  | "ERR_DOCUMENTS_ID"
  | "ERR_DOCUMENTS_LEASE"
  | "ERR_DOCUMENTS_LOCKED"
  | "ERR_DOCUMENTS_MIGRATION"
  | "ERR_DOCUMENTS_MISSING"
  | "ERR_DOCUMENTS_NAME"
  | "ERR_DOCUMENTS_OPEN"
  | "ERR_DOCUMENTS_POSITION"
  | "ERR_DOCUMENTS_QUERY"
  | "ERR_DOCUMENTS_SCHEMA"
  | "ERR_DOCUMENTS_TIMEOUT"
  | "ERR_DOCUMENTS_TRANSACTION"
  | "ERR_DOCUMENTS_UNIQUE"
  | "ERR_DOCUMENTS_VALUE"
  | "ERR_DOCUMENTS_VERSION";

/** The stable code of a {@link DocumentsTypeError}. */
export type DocumentsTypeErrorCode = "ERR_DOCUMENTS_DEFINITION" | "ERR_DOCUMENTS_OPTIONS";

/** The base of every error that an operation of a store rejects with. */
export class DocumentsError extends FetchworkError {
  override readonly name: string = "DocumentsError";
  declare readonly code: DocumentsErrorCode;

  // It narrows the codes.
  // oxlint-disable-next-line no-useless-constructor
  constructor(code: DocumentsErrorCode, message: string, options?: ErrorOptions) {
    super(code, message, options);
  }
}

/** An invalid collection definition, URL or option of a store. */
export class DocumentsTypeError extends UsageError {
  override readonly name: string = "DocumentsTypeError";
  declare readonly code: DocumentsTypeErrorCode;

  // It narrows the codes.
  // oxlint-disable-next-line no-useless-constructor
  constructor(code: DocumentsTypeErrorCode, message: string, options?: ErrorOptions) {
    super(code, message, options);
  }
}

/**
 * A document, an id or a query is invalid. Nothing was changed.
 *
 * The code is `ERR_DOCUMENTS_VALUE`, `ERR_DOCUMENTS_NAME`, `ERR_DOCUMENTS_ID` or
 * `ERR_DOCUMENTS_QUERY`.
 */
export class InputError extends DocumentsError {
  override readonly name = "InputError";
  /** The place of the invalid value, such as `address.tags[3]`; empty for the whole input. */
  readonly path: string;

  constructor(
    code: "ERR_DOCUMENTS_ID" | "ERR_DOCUMENTS_NAME" | "ERR_DOCUMENTS_QUERY" | "ERR_DOCUMENTS_VALUE",
    message: string,
    path = "",
  ) {
    super(code, message);
    this.path = path;
  }
}

/** Another document already has these values in a unique index. Nothing was changed. */
export class UniqueError extends DocumentsError {
  override readonly name = "UniqueError";
  /** The collection's name. */
  readonly collection: string;
  /**
   * The fields of the violated index, `["id"]` for a taken id; none for an index in PostgreSQL that
   * the definition does not name: it lost it or another process has a newer definition.
   */
  readonly fields: readonly string[];

  constructor(collection: string, fields: readonly string[], options?: ErrorOptions) {
    super(
      "ERR_DOCUMENTS_UNIQUE",
      fields.length === 0
        ? `another document of "${collection}" has the same values in a unique index that the ` +
            "definition does not name"
        : `another document of "${collection}" has the same ${fields.join(" and ")}`,
      options,
    );
    this.collection = collection;
    this.fields = fields;
  }
}

/** A document does not satisfy the schema of its collection. Nothing was changed. */
export class SchemaError extends DocumentsError {
  override readonly name = "SchemaError";
  /** The collection's name. */
  readonly collection: string;
  /**
   * Fault, in the words of the schema's library, and its path, such as `address.tags[3]`; an
   * empty path is that of the whole document.
   */
  readonly issues: readonly { readonly message: string; readonly path: string }[];

  constructor(
    collection: string,
    issues: readonly { readonly message: string; readonly path: string }[],
  ) {
    const paths = issues.slice(0, 5).map(({ path }) => JSON.stringify(path.slice(0, 120)));
    super(
      "ERR_DOCUMENTS_SCHEMA",
      `a document of "${collection}" does not satisfy the schema at ${paths.join(", ")}`,
    );
    this.collection = collection;
    this.issues = issues;
  }
}

/** A document has another version than `ifVersion`. Nothing was changed. */
export class VersionError extends DocumentsError {
  override readonly name = "VersionError";
  /** The collection's name. */
  readonly collection: string;
  /** The version that the document has. */
  readonly current: number;
  /** The version that `ifVersion` named. */
  readonly expected: number;

  constructor(
    collection: string,
    versions: { readonly current: number; readonly expected: number },
  ) {
    const { current, expected } = versions;
    super(
      "ERR_DOCUMENTS_VERSION",
      current === expected
        ? `the document of "${collection}" is another one than that of version ${expected}, with the same id`
        : `the document of "${collection}" has version ${current}, expected ${expected}`,
    );
    this.collection = collection;
    this.current = current;
    this.expected = expected;
  }
}

/** Makes the error of options that a caller passed. */
export function optionError(message: string, options?: ErrorOptions): DocumentsTypeError {
  return new DocumentsTypeError("ERR_DOCUMENTS_OPTIONS", message, options);
}

/** Makes the error of a definition of a collection. */
export function definitionError(message: string, options?: ErrorOptions): DocumentsTypeError {
  return new DocumentsTypeError("ERR_DOCUMENTS_DEFINITION", message, options);
}

/** Makes the error of a query; `path` is the place in it. */
export function queryError(message: string, path?: string): InputError {
  return new InputError("ERR_DOCUMENTS_QUERY", message, path);
}

/** Makes the error of a field whose name only the store uses. */
export function reservedError(field: string): InputError {
  const message = `the field "${field}" is reserved by the store`;
  return new InputError("ERR_DOCUMENTS_NAME", message, field);
}

/** Reports a call of a store that was closed. */
export function closedError(): DocumentsError {
  return new DocumentsError("ERR_DOCUMENTS_CLOSED", "the store is closed");
}

/** Tells whether an error is one of this package with a code. */
export function hasCode(error: unknown, code: DocumentsErrorCode): error is DocumentsError {
  return error instanceof DocumentsError && error.code === code;
}
