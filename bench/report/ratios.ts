import type { Measure, PartResults } from "../harness/results.ts";
import { spreadOf, type Spread } from "../harness/statistics.ts";
import type { About } from "./about.ts";
import { isMeant } from "./selection.ts";
import { ratioPlot, type RatioGroup } from "./ratio-plot.ts";

/** The picture of the ratios of all parts, when there are any. */
export function ratios(
  abouts: readonly About[],
  measured: ReadonlyMap<string, PartResults>,
): string | undefined {
  const groups = abouts.flatMap(({ part, title, overview = {} }): readonly RatioGroup[] => {
    const found = new Map<string, number[]>();
    for (const measure of measured.get(part)?.measures.filter(isCpu) ?? []) {
      for (const row of measure.rows) {
        const { name, own, ratio } = row;
        if (own === true || ratio === undefined || !isMeant({ measure, row }, overview)) continue;
        const key = measure.group === "PostgreSQL" ? `${name}, on PostgreSQL` : name;
        found.set(key, [...(found.get(key) ?? []), ratio.median]);
      }
    }
    const rows = [...found].map(([name, all]) => ({ name, ratio: rangeOf(all) }));
    return rows.length === 0 ? [] : [{ title, rows }];
  });
  if (groups.length === 0) return undefined;
  const title = "CPU time: ours over theirs";
  const note =
    "Left of 1 ours costs less. The dot is the median over all works of a part, the line goes from the best to the worst.";
  return ratioPlot(title, note, groups);
}

function rangeOf(all: readonly number[]): Spread {
  return { median: spreadOf(all).median, low: Math.min(...all), high: Math.max(...all) };
}

/** CPU time is what all parts have. */
function isCpu({ unit }: Measure): boolean {
  return unit.startsWith("CPU");
}
