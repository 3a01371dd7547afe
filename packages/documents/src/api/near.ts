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
