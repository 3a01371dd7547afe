/** When the documents of a collection expire. */
export interface Expires<P = string> {
  /**
   * The field with a time: ISO 8601 text with a date and a time zone, or milliseconds since 1970. A
   * document without one there never expires. `createdAt` and `updatedAt` do as well.
   */
  readonly field: P;
  /** The time from then on, in milliseconds from 0. Default: `0`. */
  readonly after?: number | undefined;
}
