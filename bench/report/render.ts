import type { Machine, Measure, PartResults } from "../harness/results.ts";
import type { About } from "./about.ts";
import { lossesOf, lossList } from "./losses.ts";
import { measureTables } from "./measure-tables.ts";
import { allPlots, type Plot } from "./plots/all-plots.ts";
import { missedText, outcomeOf, targetTable } from "./targets.ts";

/** What the page says of a part. */
export interface PartInput {
  readonly about: About;
  /** How it is measured, as Markdown. */
  readonly method: string;
  /** Figures that no command repeats, as Markdown, each with its date. */
  readonly earlier?: string;
  readonly results?: PartResults;
}

/** The page with its pictures. */
export interface Page {
  readonly markdown: string;
  readonly plots: readonly Plot[];
}

/** Makes the page of nothing but its inputs. */
export function render(inputs: readonly PartInput[]): Page {
  const measured = new Map(
    inputs.flatMap(({ about, results }) => (results === undefined ? [] : [[about.part, results]])),
  );
  const plots = allPlots(
    inputs.map(({ about }) => about),
    measured,
  );
  const earlier = inputs.flatMap((input) =>
    input.earlier === undefined ? [] : [`### ${input.about.title}, earlier`, input.earlier],
  );
  const blocks = [
    "# Benchmarks",
    "<!-- Made by `npm run compare` in bench/, of bench/results and bench/*/method.md: do not edit. -->",
    introduction([...measured.values()]),
    "## Targets",
    "What the issues asked for. Ratios are of CPU time or whatever else the target names, ours over theirs, with their " +
      "quartiles; of several works or peers the worst is shown.",
    targetTable(inputs.flatMap(outcomesOf)),
    ...pictures(plots.filter(({ part }) => part === undefined)),
    ...inputs.flatMap((input) => section(input, plots)),
    ...(earlier.length === 0 ? [] : ["## Measured earlier", EARLIER, ...earlier]),
  ];
  return { markdown: `${blocks.filter((block) => block !== "").join("\n\n")}\n`, plots };
}

const EARLIER =
  "Measured by hand on the dates given, mostly on a machine with other work: `npm run compare` does not repeat these figures.";

const SHARED =
  " **It did other work too:** times are far from those of a quiet machine, and ratios are less certain than their spread.";

function introduction(measured: readonly PartResults[]): string {
  const machines = [...new Set(measured.map(({ machine }) => machineText(machine)))];
  const dates = measured.map(({ date }) => date.slice(0, 10)).toSorted();
  const days = [...new Set([dates[0], dates.at(-1)])].filter((day) => day !== undefined);
  const commits = [...new Set(measured.map(({ commit }) => commit))];
  const loads = measured.flatMap(({ load }) => [load.start, load.end]);
  const isShared = measured.some(({ load, machine }) => load.start > machine.cores);
  const minutes = Math.round(measured.reduce((sum, { seconds }) => sum + seconds, 0) / 60);
  const quick = measured.filter(({ isQuick }) => isQuick).length;
  const howQuick = quick === measured.length ? "all of them quick" : `${quick} of them quick`;
  return [
    `- Machine: ${machines.join("; and ")}.`,
    `- Measured: ${days.join(" to ")}, at commit ${commits.join(", ")}, in ${minutes} minutes; ${measured.length} parts` +
      `${quick === 0 ? "" : `, ${howQuick} (a fourth of the time: read the spread)`}.`,
    `- Load of the machine, mean of a minute: ${Math.min(...loads)} to ${Math.max(...loads)}. It includes what is measured, which keeps one or two cores busy.${isShared ? SHARED : ""}`,
    "- Again: `npm install`, then in `bench/` `npm install` and `npm run compare`, or with `-- --quick`, `-- --only blog,webhooks`, `-- --rounds 21`. " +
      "It builds the packages first. `npm run compare -- --render` writes this page of what was measured before; after `npm run build` each part also runs alone, as in `npm run blog`.",
    "- Peers take turns, in another order each round. Ratios are ours over theirs, round by round: the median, and the quartiles behind it. " +
      "Below 1 ours costs less. Rounds end when the ratios are known to within about 1.5 %, or their time is over. Versions of the peers are in each section.",
  ].join("\n");
}

function machineText({ cpu, cores, gibibytes, system, node }: Machine): string {
  return `${cpu}, ${cores} cores, ${gibibytes} GiB, ${system}, Node ${node}`;
}

function section({ about, method, results }: PartInput, plots: readonly Plot[]): readonly string[] {
  const head = [`## ${about.title}`, method];
  if (results === undefined) return [...head, "Not measured yet."];
  const groups = Map.groupBy(results.measures, ({ group }) => group);
  const tables = [...groups].flatMap(([group, measures]) => [
    `### ${about.title}: ${group}`,
    ...measureTables(measures),
  ]);
  const losses = lossList(lossesOf(results), about.explanations);
  const missed = about.targets
    .map((target) => outcomeOf(target, results))
    .filter((outcome) => outcome.missed.length > 0)
    .map((outcome) => `- ${missedText(outcome)}`);
  const lost = [...losses, ...missed];
  return [
    ...head,
    circumstances(results),
    ...pictures(plots.filter(({ part }) => part === about.part)),
    ...tables,
    `### ${about.title}: where we lose`,
    lost.length === 0 ? "Nowhere in these figures." : lost.join("\n"),
  ];
}

function outcomesOf({ about, results }: PartInput): readonly ReturnType<typeof outcomeOf>[] {
  if (results === undefined) {
    return about.targets.map((target) => ({ target, cells: [], missed: [] }));
  }
  return about.targets.map((target) => outcomeOf(target, results));
}

/** When, with what, and how often. */
function circumstances({ date, commit, load, isQuick, ...results }: PartResults): string {
  const time = `${date.slice(0, 10)} ${date.slice(11, 16)} UTC`;
  const quick = isQuick ? ", a quick run" : "";
  const lines = [
    `- ${time}, commit ${commit}, Node ${results.machine.node}, load ${load.start} to ${load.end}, ${roundsOf(results.measures)}${quick}.`,
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

function pictures(plots: readonly Plot[]): readonly string[] {
  return plots.map(({ file, caption }) => `![${caption}](plots/${file})`);
}
