import { figure } from "../figure.ts";
import { element, MARGIN, picture, text, WIDTH, widthOf } from "./svg.ts";

export interface Series {
  readonly name: string;
  readonly own: boolean;
  /** Said of a second one of the same library. */
  readonly isDashed?: boolean;
  readonly points: readonly Point[];
}

export interface Point {
  readonly x: number;
  readonly y: number;
}

export interface LinePlot {
  readonly title: string;
  readonly xLabel: string;
  readonly yLabel: string;
  readonly xScale: Scale;
  readonly yScale: Scale;
  readonly series: readonly Series[];
}

export type Scale = "linear" | "logarithmic";

const TOP = 70;
const HEIGHT = 380;
const BOTTOM = HEIGHT - 56;
const LEFT = 70;
const LABEL = 15;

/** Lines with their names at their ends, and a tick below each measured size. */
export function linePlot({ title, xLabel, yLabel, series, ...scales }: LinePlot): string {
  const named = Math.max(...series.map(({ name }) => widthOf(name)));
  const right = WIDTH - MARGIN - named - 8;
  const all = series.flatMap(({ points }) => points);
  const sizes = [...new Set(all.map(({ x }) => x))].toSorted((one, other) => one - other);
  const ticks = ticksOf(
    all.map(({ y }) => y),
    scales.yScale,
  );
  const x = scaled(scales.xScale, [sizes[0] ?? 0, sizes.at(-1) ?? 1], [LEFT + 10, right - 10]);
  const y = scaled(scales.yScale, [ticks[0] ?? 0, ticks.at(-1) ?? 1], [BOTTOM, TOP]);
  const parts = [
    text(MARGIN, 52, yLabel, "muted"),
    ...ticks.flatMap((tick) => [
      element("line", { class: "grid", x1: LEFT, x2: right, y1: y(tick), y2: y(tick) }),
      text(LEFT - 8, y(tick) + 4, figure(tick), "end muted"),
    ]),
    ...sizes.map((size) => text(x(size), BOTTOM + 20, figure(size), "middle muted")),
    text((LEFT + right) / 2, BOTTOM + 42, xLabel, "middle muted"),
    ...series.flatMap((each) => lineOf(each, x, y)),
  ];
  const ends = series.map(({ points }) => y(points.at(-1)?.y ?? 0));
  const places = apart(ends);
  const names = series.map(({ name, own }, index) =>
    text(right + 4, (places[index] ?? 0) + 4, name, own ? "own-text head" : "peer-text"),
  );
  return picture(title, { height: HEIGHT, parts: [...parts, ...names] });
}

type Place = (value: number) => number;

function lineOf({ own, isDashed, points }: Series, x: Place, y: Place): readonly string[] {
  const path = points.map((point) => `${x(point.x).toFixed(1)},${y(point.y).toFixed(1)}`);
  const classes = `line ${own ? "own-line" : "peer-line"}${isDashed === true ? " dashed" : ""}`;
  return [
    element("polyline", { class: classes, points: path.join(" ") }),
    ...points.map((point) =>
      element("circle", {
        class: own ? "own-dot" : "peer-dot",
        cx: x(point.x),
        cy: y(point.y),
        r: 3,
      }),
    ),
  ];
}

function scaled(
  scale: Scale,
  [least, most]: readonly [number, number],
  [from, to]: readonly [number, number],
): Place {
  const of = scale === "linear" ? (value: number) => value : (value: number) => Math.log10(value);
  const span = of(most) - of(least) || 1;
  return (value) => from + ((of(value) - of(least)) / span) * (to - from);
}

/** Round values that all lie between. */
function ticksOf(values: readonly number[], scale: Scale): readonly number[] {
  const most = Math.max(...values);
  if (scale === "logarithmic") {
    const first = Math.floor(Math.log10(Math.min(...values)));
    const last = Math.ceil(Math.log10(most));
    return Array.from({ length: last - first + 1 }, (_, index) => 10 ** (first + index));
  }
  const rough = most / 4;
  const power = 10 ** Math.floor(Math.log10(rough));
  const step = power * ([1, 2, 2.5, 5, 10].find((factor) => factor * power >= rough) ?? 10);
  const count = Math.ceil(most / step);
  return Array.from({ length: count + 1 }, (_, index) => index * step);
}

/** Moves labels down until none covers another, and all up again when the last is too low. */
function apart(places: readonly number[]): readonly number[] {
  const order = places.map((_, index) => index).toSorted((a, b) => at(places, a) - at(places, b));
  const moved = [...places];
  let last = Number.NEGATIVE_INFINITY;
  for (const index of order) {
    moved[index] = Math.max(at(places, index), last + LABEL);
    last = at(moved, index);
  }
  const excess = Math.max(0, last - BOTTOM);
  return moved.map((place) => place - excess);
}

function at(values: readonly number[], index: number): number {
  return values[index] ?? 0;
}
