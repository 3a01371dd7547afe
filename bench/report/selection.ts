import type { Measure, PartResults, Row } from "../harness/results.ts";
import type { Selection } from "./about.ts";

/** A row with the measure that it is in. */
export interface Cell {
  readonly measure: Measure;
  readonly row: Row;
}

export function cellsOf({ measures }: PartResults): readonly Cell[] {
  return measures.flatMap((measure) => measure.rows.map((row) => ({ measure, row })));
}

export function isMeant({ measure, row }: Cell, where: Selection): boolean {
  const has = (list: readonly string[] | undefined, value: string): boolean =>
    list === undefined || list.includes(value);
  return (
    has(where.groups, measure.group) &&
    has(where.works, measure.work) &&
    has(where.units, measure.unit) &&
    has(where.rows, row.name)
  );
}

/** The label of a measure among the others of its part. */
export function nameOf({ group, work }: Measure): string {
  if (work === "each request") return group;
  return /^(?:SQLite|PostgreSQL)$/.test(group) ? `${work} on ${group}` : `${group}: ${work}`;
}

/** Cells with what is shown of each; those of the same peer and group stand together. */
export function listed<T extends Cell>(cells: readonly T[], shown: (cell: T) => string): string {
  const places = Map.groupBy(cells, placeOf);
  const texts = [...places].map(([place, list]) => {
    const all = list.map((cell) => {
      const { work } = cell.measure;
      return work === "each request" ? shown(cell) : `${work} ${shown(cell)}`;
    });
    return `${place}: ${all.join("; ")}`;
  });
  return texts.join(". ");
}

function placeOf({ measure: { group }, row }: Cell): string {
  if (row.own === true) return group;
  return /^(?:SQLite|PostgreSQL)/.test(group)
    ? `Against ${row.name} on ${group}`
    : `Against ${row.name}, ${group}`;
}
