/** Columns that make up a document. */
export const documentColumns = "id, version, created_at, updated_at, doc, deleted_at";

/** What comes back of a document that was claimed. */
export const claimedColumns: string = [
  ...documentColumns.split(", "),
  "lease_token",
  "lease_attempt",
]
  .map((column) => `claimed.${column}`)
  .join(", ");
