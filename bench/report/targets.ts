import type { PartResults } from "../harness/results.ts";
import type { Spread } from "../harness/statistics.ts";
import type { Target } from "./about.ts";
import { figure, rangeText, ratioText, spreadText } from "./figure.ts";
import { cellsOf, isMeant, listed, nameOf, type Cell } from "./selection.ts";
import { table } from "./table.ts";

/** What became of a target. */
export interface Outcome {
  readonly target: Target;
  /** Whatever it was about. */
  readonly cells: readonly OutcomeCell[];
  readonly missed: readonly OutcomeCell[];
}

export interface OutcomeCell extends Cell {
  readonly found: Spread;
}

export function outcomeOf(target: Target, results: PartResults): Outcome {
  const cells = cellsOf(results)
    .filter((cell) => isMeant(cell, target.where))
    .flatMap((cell): readonly OutcomeCell[] => {
      const found = target.of === "ratio" ? cell.row.ratio : cell.row.value;
      const isOurs =
        target.of === "ratio" && cell.row.own === true && target.where.rows === undefined;
      return found === undefined || isOurs ? [] : [{ ...cell, found }];
    });
  return { target, cells, missed: cells.filter(({ found }) => found.median > target.atMost) };
}

/** The table of all targets. */
export function targetTable(outcomes: readonly Outcome[]): string {
  const rows = outcomes.map((outcome) => [outcome.target.text, reached(outcome), worst(outcome)]);
  return table(["target", "reached", "the figure, or the worst of several"], rows, 3);
}

function reached({ cells, missed }: Outcome): string {
  if (cells.length === 0) return "not measured";
  if (missed.length === 0) return "yes";
  if (cells.length === 1 || missed.length === cells.length) return "no";
  return `in ${cells.length - missed.length} of ${cells.length}`;
}

function worst({ target, cells }: Outcome): string {
  const [last] = cells.toSorted((one, other) => other.found.median - one.found.median);
  if (last === undefined) return "";
  const { measure, row, found } = last;
  const text = target.of === "ratio" ? spreadText(found) : `${rangeText(found)} ${measure.unit}`;
  if (cells.length === 1) return text;
  return `${text}: ${nameOf(measure)}${row.own === true ? "" : `, ${row.name}`}`;
}

/** A sentence about what a target missed, for the section of its part. */
export function missedText({ target, cells, missed }: Outcome): string {
  const all = listed(missed, ({ found, measure }) => {
    if (target.of === "ratio") return ratioText(found.median);
    return measure.isCount === true ? rangeText(found) : figure(found.median);
  });
  const count = cells.length === 1 ? "" : ` in ${missed.length} of ${cells.length}`;
  return `${target.text}. Missed${count}. ${all}.`;
}
