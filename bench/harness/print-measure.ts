import { figure, spreadText } from "../report/figure.ts";
import { table } from "../report/table.ts";
import type { Measure } from "./results.ts";

/** Prints a measure as it is done. */
export function printMeasure({ group, work, unit, rounds, rows }: Measure): void {
  const more = [...new Set(rows.flatMap((row) => Object.keys(row.more ?? {})))];
  const heading = `${group}: ${work}, ${rounds} rounds`;
  const lines = rows.map(({ name, value, rate, ratio, failed, ...row }) => [
    name,
    value === undefined ? (failed ?? "") : figure(value.median),
    rate === undefined ? "" : figure(rate),
    ratio === undefined ? "" : spreadText(ratio),
    ...more.map((each) => figure(row.more?.[each] ?? Number.NaN)),
  ]);
  const headings = [heading, unit, "per second", "ours / theirs (quartiles)", ...more];
  console.log(`\n${table(headings, lines)}`);
}
