import type { Measure, Row } from "../harness/results.ts";
import { figure, rangeText, spreadText } from "./figure.ts";
import { table } from "./table.ts";

const RATIO = "ours / theirs (quartiles)";

/** The tables of a group of measures: measures of one kind share a table. */
export function measureTables(measures: readonly Measure[]): readonly string[] {
  const byUnit = Map.groupBy(measures, ({ unit }) => unit);
  return [...byUnit].flatMap(([unit, list]) => tablesOf(unit, list));
}

function tablesOf(unit: string, measures: readonly Measure[]): readonly string[] {
  const names = namesOf(measures);
  const [only] = measures;
  if (only === undefined) return [];
  if (names.length === 1) return [ownTable(unit, measures)];
  if (measures.length === 1) return [listTable(unit, only)];
  if (names.length === 2) return [pairTable(unit, measures, names)];
  if (names.length > 6) return [namesTable(unit, measures, names)];
  return pivotTables(unit, measures, names);
}

/** Ours alone. */
function ownTable(unit: string, measures: readonly Measure[]): string {
  const rows = measures.map(({ work, isCount, rows: [row] }) => [work, valueOf(row, isCount)]);
  return table(["work", unit], rows);
}

/** One work, a line for each who does it. */
function listTable(unit: string, { work, isCount, rows }: Measure): string {
  const more = [...new Set(rows.flatMap((row) => Object.keys(row.more ?? {})))];
  const hasRates = rows.some(({ rate }) => rate !== undefined);
  const hasRatios = rows.some(({ ratio }) => ratio !== undefined);
  const headings = [
    work,
    unit,
    ...(hasRates ? ["per second"] : []),
    ...(hasRatios ? [RATIO] : []),
    ...more,
  ];
  const lines = rows.map((row) => [
    row.name,
    valueOf(row, isCount),
    ...(hasRates ? [row.rate === undefined ? "" : figure(row.rate)] : []),
    ...(hasRatios ? [ratioOf(row)] : []),
    ...more.map((each) => figure(row.more?.[each] ?? Number.NaN)),
  ]);
  return table(headings, lines);
}

/** Two who do several works, a line for each work. */
function pairTable(unit: string, measures: readonly Measure[], names: readonly string[]): string {
  const lines = measures.map((measure) => {
    const rows = names.map((name) => rowOf(measure, name));
    return [measure.work, ...rows.map((row) => valueOf(row, measure.isCount)), ratioOf(rows[1])];
  });
  return table([unit, ...names, RATIO], lines);
}

/** Many who do a few works, a line for each of them. */
function namesTable(unit: string, measures: readonly Measure[], names: readonly string[]): string {
  const headings = measures.flatMap(({ work }) => [`${work}, ${unit}`, RATIO]);
  const lines = names.map((name) => [
    name,
    ...measures.flatMap((measure) => {
      const row = rowOf(measure, name);
      return [valueOf(row, measure.isCount), ratioOf(row)];
    }),
  ]);
  return table(["what", ...headings], lines);
}

/** Several who do several works: values, ratios and rates. */
function pivotTables(
  unit: string,
  measures: readonly Measure[],
  names: readonly string[],
): readonly string[] {
  const lines = (
    shown: (row: Row | undefined, isCount?: boolean) => string,
  ): readonly (readonly string[])[] =>
    measures
      .map((measure) => [
        measure.work,
        ...names.map((name) => shown(rowOf(measure, name), measure.isCount)),
      ])
      .filter((line) => line.slice(1).some((cell) => cell !== ""));
  const tables = [table([unit, ...names], lines(valueOf))];
  const peers = names.slice(1);
  const ratios = lines(ratioOf).map(([work = "", , ...rest]) => [work, ...rest]);
  if (ratios.length > 0) tables.push(table([RATIO, ...peers], ratios));
  const rates = lines((row) => (row?.rate === undefined ? "" : figure(row.rate)));
  if (rates.length > 0) tables.push(table(["per second", ...names], rates));
  return tables;
}

function namesOf(measures: readonly Measure[]): readonly string[] {
  return [...new Set(measures.flatMap(({ rows }) => rows.map(({ name }) => name)))];
}

function rowOf({ rows }: Measure, name: string): Row | undefined {
  return rows.find((row) => row.name === name);
}

function valueOf(row: Row | undefined, isCount = false): string {
  if (row?.value === undefined) return row?.failed ?? "";
  return isCount ? rangeText(row.value) : figure(row.value.median);
}

function ratioOf(row: Row | undefined): string {
  return row?.ratio === undefined ? "" : spreadText(row.ratio);
}
