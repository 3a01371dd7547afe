import { valueAt } from "../../api/field-path.ts";
import { cellOf } from "../../geo/geo-cell.ts";
import { positionOf, vectorOf } from "../../geo/position.ts";
import type { Table } from "./table.ts";

const PARTS = { x: 1, y: 2, z: 3, cell: 4 } as const;

/**
 * Writes a number of the column of places, of the field at a place of the definition.
 *
 * The column is one array, so that a collection gets more fields without getting more columns: four
 * numbers for each, the vector that queries compare and the cell that they find it by.
 */
export function geoPart(place: number, part: keyof typeof PARTS): string {
  return `geo[${place * 4 + PARTS[part]}]`;
}

/** Gives the column of places as PostgreSQL reads an array; NULL in a collection without any. */
export function geoColumn({ geoPaths }: Table, stored: unknown): string | null {
  if (geoPaths.length === 0) return null;
  const parts = geoPaths.flatMap(({ segments }) => {
    const position = positionOf(valueAt(stored, segments));
    if (position === undefined) return ["NULL", "NULL", "NULL", "NULL"];
    const { x, y, z } = vectorOf(position);
    return [x, y, z, cellOf(position)].map(String);
  });
  return `{${parts.join(",")}}`;
}
