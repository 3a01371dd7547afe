import type { FieldPath } from "./field-path.ts";
import type { Where } from "./where.ts";

/** A field to sort by, descending with a `-` before it. */
export type SortKey<T> = FieldPath<T> | `-${FieldPath<T>}`;

/**
 * The documents to read of a collection that is defined with `softDelete`: those that were not
 * removed, only those that were removed, or both.
 */
export type Deleted = "exclude" | "include" | "only";

/** Selects documents by their distance from a place, and sorts them by it. */
export interface Near<F extends string = string> {
  /**
   * A field that the definition declares in `geo`. It holds `{ latitude, longitude }`, in degrees,
   * or a Point of GeoJSON (`{ type: "Point", coordinates: [longitude, latitude] }`); a document
   * with anything else there is not selected.
   */
  readonly field: F;
  /** The latitude of the place, -90 to 90 degrees. */
  readonly latitude: number;
  /** The longitude of the place, -180 to 180 degrees. */
  readonly longitude: number;
  /** The minimum distance, in metres from 0. Default: `0`. */
  readonly minDistance?: number | undefined;
  /** The maximum distance, in metres from 0. Default: any. */
  readonly maxDistance?: number | undefined;
}

/** Selects documents. */
export interface Selection<T> {
  /** The filter. Default: every document. */
  readonly where?: Where<T> | undefined;
  /**
   * Words that must each occur in the fields that the definition declares in `search`; case and
   * accents are ignored. Words of three or more characters match any part of a word, shorter ones
   * match the beginnings of words. Default: no search.
   *
   * At most 200 characters and 16 different words. At most 6 of them have one or two characters, or
   * 3 when there is no longer one. A word that is part of another one does not count as short.
   */
  readonly q?: string | undefined;
  /**
   * The place to measure distances from: selects the documents between two distances from it, and
   * sorts them by the distance, then by `id`, so it excludes `sort`. Distances are those of great
   * circles on a sphere with the earth's mean radius, 6,371,008.8 m. They are up to 0.56 % off the
   * ellipsoid. Default: nowhere.
   */
  readonly near?: Near<FieldPath<T>> | undefined;
  /**
   * Documents to find in a collection defined with `softDelete`. Default: `"exclude"`, those that
   * were not removed.
   */
  readonly deleted?: Deleted | undefined;
}

/** Selects and counts documents. */
export interface CountQuery<T> extends Selection<T> {
  /**
   * Stops counting at this number, from 1, which is then the result.
   * Default: counts all.
   */
  readonly max?: number | undefined;
}

/** Selects, sorts and pages documents. */
export interface FindQuery<T> extends Selection<T> {
  /**
   * The order. Missing and null come first, then numbers (`false` as 0, `true` as 1), then strings
   * by code point; `-` reverses it. `id` is added in the direction of the last field, so that
   * the order is always the same. Default: `["-createdAt"]`.
   */
  readonly sort?: readonly SortKey<T>[] | undefined;
  /** The maximum number of documents to return. Default: all. */
  readonly limit?: number | undefined;
  /** The number of documents to skip. Default: 0. */
  readonly offset?: number | undefined;
  /**
   * The cursor of a page, to start after that page; see `page`. Not with `offset`. Default: begins
   * with the first document.
   */
  readonly after?: string | undefined;
  /** The fields to return, in addition to `id`. Default: whole documents. */
  readonly fields?: readonly FieldPath<T>[] | undefined;
}

/** Selects and sorts what is streamed; `limit` is the maximum number of documents, from 1. */
export type StreamQuery<T> = Omit<FindQuery<T>, "offset">;
