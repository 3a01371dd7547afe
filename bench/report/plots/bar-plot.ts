import { figure } from "../figure.ts";
import { element, LINE, MARGIN, picture, text, WIDTH, widthOf } from "./svg.ts";

/** Some bars that can be compared with each other. */
export interface Panel {
  readonly title: string;
  readonly bars: readonly Bar[];
}

export interface Bar {
  readonly name: string;
  readonly value: number;
  readonly own: boolean;
}

const TOP = 62;
const GAP = 28;
const COLUMNS = 2;

/** Panels beside each other, each with a scale of its own that begins at 0; the value stands behind each bar. */
export function barPlot(title: string, panels: readonly Panel[]): string {
  const width = (WIDTH - MARGIN * (COLUMNS + 1)) / COLUMNS;
  const heights = Array.from({ length: COLUMNS }, () => TOP);
  const parts = panels.flatMap((panel, index) => {
    const column = index % COLUMNS;
    const y = heights[column] ?? TOP;
    heights[column] = y + LINE * (panel.bars.length + 1) + GAP;
    return drawn(panel, { x: MARGIN + column * (width + MARGIN), y, width });
  });
  return picture(title, { height: Math.max(...heights) - GAP + MARGIN, parts });
}

interface Place {
  readonly x: number;
  readonly y: number;
  readonly width: number;
}

function drawn({ title, bars }: Panel, { x, y, width }: Place): readonly string[] {
  const labels = Math.max(...bars.map(({ name }) => widthOf(name))) + 14;
  const values = Math.max(...bars.map(({ value }) => widthOf(figure(value)))) + 8;
  const most = Math.max(...bars.map(({ value }) => value));
  const room = width - labels - values;
  const rows = bars.flatMap(({ name, value, own }, index) => {
    const top = y + LINE * (index + 1) - 8;
    const length = Math.max(1, (room * value) / most);
    const box = { x: x + labels, y: top, width: length, height: LINE - 6, rx: 2 };
    return [
      text(x + labels - 8, top + 11, name, own ? "end head" : "end"),
      element("rect", { class: own ? "own" : "peer", ...box }),
      text(x + labels + length + 6, top + 11, figure(value), own ? "head" : ""),
    ];
  });
  return [text(x, y, title, "head"), ...rows];
}
