import type { Measure, PartResults } from "../../harness/results.ts";
import { spreadOf, type Spread } from "../../harness/statistics.ts";
import type { About } from "../about.ts";
import { isMeant } from "../selection.ts";
import { barPlot, type Panel } from "./bar-plot.ts";
import { linePlot, type Series } from "./line-plot.ts";
import { ratioPlot, type RatioGroup } from "./ratio-plot.ts";

/** A picture in `docs/plots/`. */
export interface Plot {
  readonly file: string;
  readonly caption: string;
  /** The part in whose section it stands; without, it is above all. */
  readonly part?: string;
  readonly svg: string;
}

type Measured = ReadonlyMap<string, PartResults>;

/** All pictures that the results are enough for. */
export function allPlots(abouts: readonly About[], measured: Measured): readonly Plot[] {
  return [
    ratios(abouts, measured),
    blog(measured, "SQLite", "blog-sqlite.svg"),
    blog(measured, "PostgreSQL", "blog-postgres.svg"),
    documents(measured),
    layers(measured),
    clients(measured),
    webhooks(measured),
  ].filter((plot) => plot !== undefined);
}

/** CPU time is what all parts have. */
function isCpu({ unit }: Measure): boolean {
  return unit.startsWith("CPU");
}

function ratios(abouts: readonly About[], measured: Measured): Plot | undefined {
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
  return {
    file: "ratios.svg",
    caption: `${title}, by library`,
    svg: ratioPlot(title, note, groups),
  };
}

function rangeOf(all: readonly number[]): Spread {
  return { median: spreadOf(all).median, low: Math.min(...all), high: Math.max(...all) };
}

function blog(measured: Measured, database: string, file: string): Plot | undefined {
  const panels = panelsOf(measured, "blog", (measure) => measure.group === database);
  if (panels.length === 0) return undefined;
  const title = `CPU time per request on ${database}, in µs`;
  const caption = `The blog API on ${database}: CPU time per request, by server and operation`;
  return { file, caption, part: "blog", svg: barPlot(title, panels) };
}

function clients(measured: Measured): Plot | undefined {
  const panels = panelsOf(measured, "http-client", () => true);
  if (panels.length === 0) return undefined;
  const title = "CPU time of the client per request, in µs";
  const caption = "HTTP clients: CPU time per request, by library";
  return { file: "http-clients.svg", caption, part: "http-client", svg: barPlot(title, panels) };
}

function panelsOf(
  measured: Measured,
  part: string,
  isMeant: (measure: Measure) => boolean,
): readonly Panel[] {
  const measures = measured.get(part)?.measures ?? [];
  return measures
    .filter((measure) => isCpu(measure) && isMeant(measure))
    .map(({ work, rows }) => ({
      title: work,
      bars: rows.flatMap(({ name, own = false, value }) =>
        value === undefined ? [] : [{ name, own, value: value.median }],
      ),
    }));
}

function documents(measured: Measured): Plot | undefined {
  const prefix = "SQLite, by number of documents: ";
  const series = seriesOf(measured.get("documents"), [
    [`${prefix}list`, "list of 30"],
    [`${prefix}get by id`, "get by id"],
  ]);
  if (series.length === 0) return undefined;
  const title = "Reads on SQLite: CPU time against the number of documents";
  return {
    file: "documents-size.svg",
    caption:
      "Documents on SQLite: the cost of a list and of a read, against the number of documents",
    part: "documents",
    svg: linePlot({
      title,
      xLabel: "documents",
      yLabel: "CPU µs",
      xScale: "logarithmic",
      yScale: "linear",
      series,
    }),
  };
}

function layers(measured: Measured): Plot | undefined {
  const series = seriesOf(measured.get("middleware"), [["In memory, layers of `ping`", ""]]);
  if (series.length === 0) return undefined;
  return {
    file: "middleware-layers.svg",
    caption: "Middlewares: CPU time of a request against the number of layers that pass it on",
    part: "middleware",
    svg: linePlot({
      title: "In memory: CPU time of a request against the number of layers",
      xLabel: "layers",
      yLabel: "CPU µs",
      xScale: "linear",
      yScale: "linear",
      series,
    }),
  };
}

function webhooks(measured: Measured): Plot | undefined {
  const series = seriesOf(measured.get("webhooks"), [
    ["`verifyAndReceive`", "verified"],
    ["Web middleware, impossible signature", "refused"],
  ]);
  if (series.length === 0) return undefined;
  return {
    file: "webhooks-size.svg",
    caption: "Webhooks: the cost of a delivery, verified or refused, against the size of its body",
    part: "webhooks",
    svg: linePlot({
      title: "CPU time of a delivery against the size of its body",
      xLabel: "KiB of body",
      yLabel: "CPU µs",
      xScale: "logarithmic",
      yScale: "logarithmic",
      series,
    }),
  };
}

/** A line for each who has values at the sizes of a group; the groups after the first are dashed. */
function seriesOf(
  results: PartResults | undefined,
  groups: readonly (readonly [group: string, title: string])[],
): readonly Series[] {
  return groups.flatMap(([group, title], index) => {
    const lines = new Map<string, Series>();
    for (const { size, rows, ...measure } of results?.measures ?? []) {
      if (measure.group !== group || size === undefined) continue;
      for (const { name, own = false, value } of rows) {
        if (value === undefined) continue;
        const points = [...(lines.get(name)?.points ?? []), { x: size, y: value.median }];
        const label = title === "" ? name : `${name}, ${title}`;
        lines.set(name, { name: label, own, isDashed: index > 0, points });
      }
    }
    return [...lines.values()];
  });
}
