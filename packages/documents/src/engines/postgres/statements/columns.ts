/** Columns that make up a document. */
export const documentColumns = "id, version, created_at, updated_at, doc, deleted_at";

/** Columns that a claim returns of a document. */
export const claimedColumns: string = [
  ...documentColumns.split(", "),
  "lease_token",
  "lease_attempt",
]
  .map((column) => `claimed.${column}`)
  .join(", ");
