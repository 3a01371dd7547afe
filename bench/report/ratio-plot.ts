import type { Spread } from "../harness/statistics.ts";
import { ratioText } from "./figure.ts";
import { element, LINE, MARGIN, picture, text, WIDTH, widthOf } from "./svg.ts";

/** Ratios of one part. */
export interface RatioGroup {
  readonly title: string;
  readonly rows: readonly RatioRow[];
}

export interface RatioRow {
  readonly name: string;
  readonly ratio: Spread;
}

const TOP = 84;

/**
 * A dot for each ratio with a line for its spread, over a logarithmic scale; left of 1 ours costs
 * less.
 */
export function ratioPlot(title: string, note: string, groups: readonly RatioGroup[]): string {
  const rows = groups.flatMap((group) => group.rows);
  const labels = Math.max(...rows.map(({ name }) => widthOf(name))) + MARGIN * 2;
  const values = widthOf("0.000 (0.000 to 0.000)");
  const [left, right] = [labels + 10, WIDTH - MARGIN - values];
  const first = Math.floor(Math.log10(Math.min(0.1, ...rows.map(({ ratio }) => ratio.low))));
  const last = Math.ceil(Math.log10(Math.max(10, ...rows.map(({ ratio }) => ratio.high))));
  const x = (ratio: number): number =>
    left + ((Math.log10(ratio) - first) / (last - first)) * (right - left);
  const height = TOP + LINE * (rows.length + groups.length) + MARGIN;
  const ticks = Array.from({ length: last - first + 1 }, (_, index) => 10 ** (first + index));
  const parts = [
    text(MARGIN, 50, note, "muted"),
    ...ticks.flatMap((tick) => [
      element("line", {
        class: tick === 1 ? "one" : "grid",
        x1: x(tick),
        x2: x(tick),
        y1: TOP - 8,
        y2: height - MARGIN,
      }),
      text(x(tick), TOP - 14, tick === 1 ? "1, level" : String(tick), "middle muted"),
    ]),
  ];
  let y = TOP;
  for (const group of groups) {
    y += LINE;
    parts.push(text(MARGIN, y - 6, group.title, "head"));
    for (const { name, ratio } of group.rows) {
      y += LINE;
      const [low, high] = [x(ratio.low), x(ratio.high)];
      const cost = ratio.median <= 1 ? "own" : "peer";
      parts.push(
        text(labels, y - 6, name, "end"),
        element("line", { class: `${cost}-line line`, x1: low, x2: high, y1: y - 10, y2: y - 10 }),
        element("circle", { class: `${cost}-dot`, cx: x(ratio.median), cy: y - 10, r: 4 }),
        text(WIDTH - MARGIN, y - 6, spread(ratio), "end muted"),
      );
    }
  }
  return picture(title, { height, parts });
}

function spread({ median, low, high }: Spread): string {
  const all = [median, low, high].map(ratioText);
  return low === high ? (all[0] ?? "") : `${all[0]} (${all[1]} to ${all[2]})`;
}
