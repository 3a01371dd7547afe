import { isObject } from "@fetchwork/kit";

/** A point on the sphere, as a vector of the length 1. */
export interface Vector {
  readonly x: number;
  readonly y: number;
  readonly z: number;
}

/** A place in degrees. */
export interface Position {
  readonly latitude: number;
  readonly longitude: number;
}

/** The mean radius of the earth (WGS 84, IUGG), in metres. */
const earthRadius = 6_371_008.8;

const gridSize = 2 ** 52;
const radiansPerDegree = Math.PI / 180;

/**
 * Reads a place: `{ latitude, longitude }`, or a Point of GeoJSON (RFC 7946 section 3.1.2), whose
 * coordinates begin with the longitude. `undefined` for anything else, or out of range.
 */
export function positionOf(value: unknown): Position | undefined {
  if (!isObject(value)) return undefined;
  if (value["type"] === "Point") {
    const { coordinates } = value;
    return Array.isArray(coordinates) ? checked(coordinates[1], coordinates[0]) : undefined;
  }
  return checked(value["latitude"], value["longitude"]);
}

/** Tells whether a number is a latitude. */
export function isLatitude(value: unknown): value is number {
  return typeof value === "number" && value >= -90 && value <= 90;
}

/** Tells whether a number is a longitude. */
export function isLongitude(value: unknown): value is number {
  return typeof value === "number" && value >= -180 && value <= 180;
}

/**
 * Returns the vector of a place.
 *
 * Distances are compared by the squares of the chords between vectors, for two reasons: the engines
 * only subtract, multiply and add, which all of them round alike. Neither the poles nor the
 * antimeridian is a special case. A quarter of the square is the haversine of the angle.
 */
export function vectorOf({ latitude, longitude }: Position): Vector {
  // A pole is one place by whatever longitude it is called, and so is the antimeridian by its two.
  if (Math.abs(latitude) === 90) return { x: 0, y: 0, z: latitude / 90 };
  const [phi, lambda] = [
    latitude * radiansPerDegree,
    (longitude === -180 ? 180 : longitude) * radiansPerDegree,
  ];
  const radius = Math.cos(phi);
  return {
    x: rounded(radius * Math.cos(lambda)),
    y: rounded(radius * Math.sin(lambda)),
    z: rounded(Math.sin(phi)),
  };
}

/** Returns the square of the chord between two vectors, in the order in which engines add. */
export function squareBetween(one: Vector, other: Vector): number {
  const [x, y, z] = [one.x - other.x, one.y - other.y, one.z - other.z];
  return x * x + y * y + z * z;
}

/** Returns the square of the chord under a distance in metres; infinite for more than there is. */
export function squareOfDistance(metres: number): number {
  const half = metres / earthRadius / 2;
  return half > Math.PI / 2 ? Infinity : (2 * Math.sin(half)) ** 2;
}

/** Returns the angle over a chord, in radians. */
export function angleOfSquare(square: number): number {
  return 2 * Math.asin(Math.min(1, Math.sqrt(square) / 2));
}

/** Keeps 52 bits behind the point, 1.4 nm: PostgreSQL refuses to square a number near to 0. */
function rounded(value: number): number {
  return Math.round(value * gridSize) / gridSize;
}

function checked(latitude: unknown, longitude: unknown): Position | undefined {
  return isLatitude(latitude) && isLongitude(longitude) ? { latitude, longitude } : undefined;
}
