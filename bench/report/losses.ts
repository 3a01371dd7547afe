import type { PartResults } from "../harness/results.ts";
import type { Explanation } from "./about.ts";
import { spreadText } from "./figure.ts";
import { cellsOf, isMeant, listed, type Cell } from "./selection.ts";

/** What costs more than its peer: clearly, or as far as the spread tells. */
export interface Losses {
  readonly clear: readonly Cell[];
  /** One lies on either side of the quartiles. */
  readonly level: readonly Cell[];
}

export function lossesOf(results: PartResults): Losses {
  const lost = cellsOf(results).filter(
    ({ row }) => row.own !== true && row.ratio !== undefined && row.ratio.median > 1.005,
  );
  const isClear = ({ row }: Cell): boolean => (row.ratio?.low ?? 0) > 1;
  return { clear: lost.filter(isClear), level: lost.filter((cell) => !isClear(cell)) };
}

/** A list, in which what has the same explanation is together. */
export function lossList(
  { clear, level }: Losses,
  explanations: readonly Explanation[],
): readonly string[] {
  const byText = new Map<string, Cell[]>();
  for (const cell of clear) {
    const found = explanations.find(({ where }) => isMeant(cell, where));
    const key = found?.text ?? "";
    byText.set(key, [...(byText.get(key) ?? []), cell]);
  }
  const items = [...byText]
    .toSorted(([one], [other]) => Number(one === "") - Number(other === ""))
    .map(([text, cells]) => {
      const figures = listed(cells, ratioShown);
      return text === "" ? `- ${figures}.` : `- ${figures}. ${text}`;
    });
  if (level.length > 0) {
    const figures = listed(level, ratioShown);
    items.push(`- Level, with 1 between the quartiles. ${figures}.`);
  }
  return items;
}

function ratioShown({ row: { ratio } }: Cell): string {
  return ratio === undefined ? "" : spreadText(ratio);
}
