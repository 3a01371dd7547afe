import type { Machine, Measure, PartResults } from "../harness/results.ts";
import type { About } from "./about.ts";
import { lossesOf, lossList } from "./losses.ts";
import { measureTables } from "./measure-tables.ts";
import { ratios } from "./ratios.ts";
import { missedText, outcomeOf, targetTable } from "./targets.ts";

/** What the pages are made of, for a part. */
export interface PartInput {
  readonly about: About;
  /** How it is measured, as Markdown. */
  readonly method: string;
  readonly results?: PartResults;
}

export interface Pages {
  /** The page of ratios and losses, `docs/benchmarks.md`. */
  readonly markdown: string;
  /** The picture of all ratios, `docs/plots/ratios.svg`. */
  readonly plot: string | undefined;
  /** For each part the page of its tables, `bench/results/<part>.md`. */
  readonly tables: ReadonlyMap<string, string>;
}

const MADE_BY =
  "<!-- Made by `npm run compare` in bench/, of bench/results and bench/*/method.md: do not edit. -->";

/** Makes the pages of nothing but their inputs. */
export function render(inputs: readonly PartInput[]): Pages {
  const measured = new Map(
    inputs.flatMap(({ about, results }) => (results === undefined ? [] : [[about.part, results]])),
  );
  const plot = ratios(
    inputs.map(({ about }) => about),
    measured,
  );
  const markdown = pageOf([
    "# Benchmarks",
    MADE_BY,
    introduction([...measured.values()]),
    "## Targets",
    "Ratios are of CPU time or whatever else the target names, ours over theirs, with their quartiles; counts " +
      "have the lowest and the highest of all rounds. Of several works or peers the worst is shown.",
    targetTable(inputs.flatMap(outcomesOf)),
    plot === undefined ? "" : "![CPU time: ours over theirs, by library](plots/ratios.svg)",
    "## Where we lose",
    ...inputs.flatMap(lossesOfPart),
  ]);
  return {
    markdown,
    plot,
    tables: new Map(inputs.map((input) => [input.about.part, tablesOfPart(input)])),
  };
}

function pageOf(blocks: readonly string[]): string {
  return `${blocks.filter((block) => block !== "").join("\n\n")}\n`;
}

const SHARED =
  " **It did other work too:** times are far from those of a quiet machine. Ratios are less certain than their spread.";

function introduction(measured: readonly PartResults[]): string {
  const machines = [...new Set(measured.map(({ machine }) => machineText(machine)))];
  const dates = measured.map(({ date }) => date.slice(0, 10)).toSorted();
  const days = [...new Set([dates[0], dates.at(-1)])].filter((day) => day !== undefined);
  const loads = measured.flatMap(({ load }) => [load.start, load.end]);
  const isShared = measured.some(({ load, machine }) => load.start > machine.cores);
  const minutes = Math.round(measured.reduce((sum, { seconds }) => sum + seconds, 0) / 60);
  const quick = measured.filter(({ isQuick }) => isQuick).length;
  const howQuick = quick === measured.length ? "all of them quick" : `${quick} of them quick`;
  return [
    `- Machine: ${machines.join("; and ")}.`,
    `- Measured: ${days.join(" to ")}, in ${minutes} minutes; ${measured.length} parts` +
      `${quick === 0 ? "" : `, ${howQuick} (a fourth of the time: read the spread)`}.`,
    `- Load of the machine, mean of a minute: ${Math.min(...loads)} to ${Math.max(...loads)}. It includes what is measured, which keeps one or two cores busy.${isShared ? SHARED : ""}`,
    "- Again: `npm install`, then in `bench/` `npm install` and `npm run compare`, or with `-- --quick`, `-- --only blog,webhooks`, `-- --rounds 21`. " +
      "It builds the packages first. `npm run compare -- --render` writes this page of what was measured before; after `npm run build` each part also runs alone, as in `npm run blog`.",
    "- Peers take turns, in another order each round. Ratios are ours over theirs, round by round: the median, and the quartiles behind it. " +
      "Below 1 ours costs less. Rounds end when the ratios are known to within about 1.5 %, or their time is over. Versions of the peers, methods and all figures stand with the results of each part.",
  ].join("\n");
}

function machineText({ cpu, cores, gibibytes, system, node }: Machine): string {
  return `${cpu}, ${cores} cores, ${gibibytes} GiB, ${system}, Node ${node}`;
}

/** What costs more than its peer in a part, with the link to its tables. */
function lossesOfPart({ about, results }: PartInput): readonly string[] {
  const title = `### ${about.title}`;
  const link = `[Method and figures](../bench/results/${about.part}.md).`;
  if (results === undefined) return [title, "Not measured yet."];
  const losses = lossList(lossesOf(results), about.explanations);
  const missed = about.targets
    .map((target) => outcomeOf(target, results))
    .filter((outcome) => outcome.missed.length > 0)
    .map((outcome) => `- ${missedText(outcome)}`);
  const lost = [...losses, ...missed];
  return [title, lost.length === 0 ? "Nowhere." : lost.join("\n"), link];
}

function tablesOfPart({ about, method, results }: PartInput): string {
  const head = [`# ${about.title}`, MADE_BY, method];
  if (results === undefined) return pageOf([...head, "Not measured yet."]);
  const groups = Map.groupBy(results.measures, ({ group }) => group);
  const tables = [...groups].flatMap(([group, measures]) => [
    `## ${group}`,
    ...measureTables(measures),
  ]);
  return pageOf([...head, circumstances(results), ...tables]);
}

function outcomesOf({ about, results }: PartInput): readonly ReturnType<typeof outcomeOf>[] {
  if (results === undefined) {
    return about.targets.map((target) => ({ target, cells: [], missed: [] }));
  }
  return about.targets.map((target) => outcomeOf(target, results));
}

/** When, with what, and how often. */
function circumstances({ date, load, isQuick, ...results }: PartResults): string {
  const time = `${date.slice(0, 10)} ${date.slice(11, 16)} UTC`;
  const quick = isQuick ? ", a quick run" : "";
  const lines = [
    `- ${time}, Node ${results.machine.node}, load ${load.start} to ${load.end}, ${roundsOf(results.measures)}${quick}.`,
  ];
  const versions = Object.entries(results.versions).map(([name, version]) => `${name} ${version}`);
  if (versions.length > 0) lines.push(`- Peers: ${versions.join(", ")}.`);
  const absent = Object.entries(results.absent);
  if (absent.length > 0) {
    const all = absent.map(([name, reason]) => `${name} (${reason})`);
    lines.push(`- Not measured: ${all.join(", ")}.`);
  }
  return lines.join("\n");
}

function roundsOf(measures: readonly Measure[]): string {
  const all = measures.map(({ rounds }) => rounds).filter((rounds) => rounds > 1);
  if (all.length === 0) return "1 round";
  const [least, most] = [Math.min(...all), Math.max(...all)];
  return least === most ? `${least} rounds` : `${least} to ${most} rounds`;
}
