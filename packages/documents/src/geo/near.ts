import { queryError } from "../api/errors.ts";
import { checkQueryOptions } from "../api/check-options.ts";
import { isPlainObject } from "../is-plain-object.ts";
import { type CellRange, cellsAround } from "./geo-cell.ts";
import {
  angleOfSquare,
  isLatitude,
  isLongitude,
  type Position,
  squareBetween,
  squareOfDistance,
  type Vector,
  vectorOf,
} from "./position.ts";

/**
 * A distance that was asked for and checked. Squares are those of chords, see {@link vectorOf}.
 */
export interface ParsedNear {
  readonly field: string;
  readonly position: Position;
  readonly vector: Vector;
  readonly lowest: number;
  /** Infinite when every distance will do. */
  readonly highest: number;
}

/** About two metres: where the search for the nearest documents begins at the least. */
const minSquare = 1e-13;
/** Four times as far, and so about as many documents as in all of the attempts before, 15 times. */
const reachGrowth = 16;
/** Attempts until another plan reads all documents: fewer than one in 256 passes the filter. */
const filteredAttempts = 3;
const maxSample = 1000;

/**
 * Checks what a query is near to.
 *
 * @throws {InputError} `ERR_DOCUMENTS_QUERY`
 */
export function parseNear(near: unknown): ParsedNear {
  if (!isPlainObject(near)) throw queryError('"near" must be an object', "near");
  checkQueryOptions("near", near, ["field", "latitude", "longitude", "maxDistance", "minDistance"]);
  const { field, latitude, longitude } = near;
  if (typeof field !== "string") throw queryError('"near.field" must be a field', "near");
  if (!isLatitude(latitude))
    throw queryError('"near.latitude" must be a number from -90 to 90', "near");
  if (!isLongitude(longitude))
    throw queryError('"near.longitude" must be a number from -180 to 180', "near");
  const lowest = parseDistance("minDistance", near["minDistance"]) ?? 0;
  const highest = parseDistance("maxDistance", near["maxDistance"]) ?? Infinity;
  const position = { latitude, longitude };
  return {
    field,
    position,
    vector: vectorOf(position),
    lowest: squareOfDistance(lowest),
    highest: squareOfDistance(highest),
  };
}

/**
 * Returns the place of a declared field among those of the definition.
 *
 * @throws {InputError} `ERR_DOCUMENTS_QUERY` when it is not declared.
 */
export function placeOfField(
  { name, geo = [] }: { readonly name: string; readonly geo?: readonly string[] | undefined },
  { field }: ParsedNear,
): number {
  const place = geo.indexOf(field);
  if (place !== -1) return place;
  throw queryError(
    `the collection "${name}" does not declare ${JSON.stringify(field.slice(0, 64))} in "geo"`,
    "near.field",
  );
}

/** The number of neighbours in the index, to either side, to guess a first distance by. */
export function sampleSize(needed: number): number {
  return Math.min(needed, maxSample);
}

/**
 * Returns the distances, as squares, within which to look for `needed` documents, one after the
 * other until that many are found: first the one that the sample makes likely, at last all.
 *
 * @yields Each distance.
 */
export function* growingReach(
  { vector, lowest, highest }: ParsedNear,
  {
    needed,
    behind,
    sample,
    isFiltered,
  }: {
    readonly needed: number;
    /** The square at the cursor; 0 without one. */
    readonly behind: number;
    readonly sample: readonly Vector[];
    /** Whether not all documents are wanted, so that a full search may be better. */
    readonly isFiltered: boolean;
  },
): Generator<number, void, void> {
  const size = sampleSize(needed);
  if (sample.length >= size) {
    const squares = sample.map((one) => squareBetween(vector, one));
    squares.sort((one, other) => one - other);
    const guess = squares[size - 1] ?? 0;
    const beyond = Math.max(minSquare, guess * (needed / size));
    const last = isFiltered ? beyond * reachGrowth ** filteredAttempts : 1;
    const start = Math.sqrt(Math.max(lowest, behind));
    for (let square = beyond; square < last; square *= reachGrowth) {
      const reach = (start + Math.sqrt(square)) ** 2;
      if (reach >= Math.min(highest, 1)) break;
      yield reach;
    }
  }
  yield highest;
}

/** Returns the cells that hold every place within the square of a chord. */
export function cellsWithin(
  { position }: ParsedNear,
  square: number,
): readonly CellRange[] | undefined {
  return square === Infinity ? undefined : cellsAround(position, angleOfSquare(square));
}

function parseDistance(name: string, value: unknown): number | undefined {
  if (value === undefined) return undefined;
  if (typeof value === "number" && Number.isFinite(value) && value >= 0) return value;
  throw queryError(`"near.${name}" must be a finite number of metres from 0`, "near");
}
