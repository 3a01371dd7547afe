/** When the documents of a collection expire. */
export interface Expires<P = string> {
  /**
   * The field with a time: ISO 8601 text with a time zone, or a date for its midnight in UTC, or
   * milliseconds since 1970. A document without such a field never expires. `createdAt` and
   * `updatedAt` are possible too.
   */
  readonly field: P;
  /** The time to add, in milliseconds from 0. Default: `0`. */
  readonly after?: number | undefined;
}
