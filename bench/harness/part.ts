import { writeFileSync } from "node:fs";
import os from "node:os";
import { interleave, type Interleaving, type Sample } from "./interleave.ts";
import { thisCommit, thisMachine, versionsOf } from "./machine.ts";
import { printMeasure } from "./print-measure.ts";
import type { Measure, PartResults, Row } from "./results.ts";
import { readSettings, type Settings } from "./settings.ts";
import { median, rangeOf, ratiosOf, spreadOf, type Spread } from "./statistics.ts";

/** What a measure is called. */
export interface MeasureName {
  readonly group: string;
  readonly work: string;
  readonly unit: string;
  readonly size?: number;
  /** Which rows are ours; the others are compared with the first. Default: `["fetchwork"]`. */
  readonly own?: readonly string[];
  /** Said of counts, which have no ratio. Default: `false`. */
  readonly isCount?: boolean;
}

/** Collects what a part measures, prints it, and writes it where `--json` says. */
export class Part {
  readonly settings: Settings;
  readonly #part: string;
  readonly #startedAt = performance.now();
  readonly #load = os.loadavg()[0] ?? 0;
  readonly #date = new Date().toISOString();
  readonly #measures: Measure[] = [];
  readonly #versions: Record<string, string> = {};
  readonly #absent: Record<string, string> = {};

  /** Reads the settings of the command line. */
  constructor(part: string) {
    this.#part = part;
    this.settings = readSettings(process.argv.slice(2));
    const { node, cpu, cores } = thisMachine();
    console.log(`Node ${node}, ${cpu}, ${cores} cores, load ${this.#load.toFixed(1)}`);
  }

  /** Notes the versions of peers. */
  uses(...names: readonly string[]): void {
    Object.assign(this.#versions, versionsOf(names));
  }

  /** Notes a version that is in no package.json of `bench/`. */
  usesVersion(name: string, version: string): void {
    this.#versions[name] = version;
  }

  /** Measures some of the part; when that fails, the rest goes on without it. */
  async attempt(name: string, measure: () => Promise<void> | void): Promise<void> {
    try {
      await measure();
    } catch (error) {
      console.error(error);
      const [line = ""] = (error instanceof Error ? error.message : String(error)).split("\n");
      this.leaveOut(name, `it failed: ${line.slice(0, 120)}`);
    }
  }

  /** Notes what is not measured. */
  leaveOut(name: string, reason: string): void {
    this.#absent[name] = reason;
    console.log(`\n${name} is not measured: ${reason}`);
  }

  /** Lets several do a work in turn, and adds what it cost. */
  async compare(name: MeasureName, interleaving: Interleaving): Promise<void> {
    this.add(name, await this.sample(interleaving));
  }

  /** Lets several do a work in turn. */
  async sample(interleaving: Interleaving): Promise<ReadonlyMap<string, readonly Sample[]>> {
    return interleave(interleaving, this.settings);
  }

  /** Adds samples of each, one a round; a text says why there are none. */
  add(name: MeasureName, samples: ReadonlyMap<string, readonly Sample[] | string>): void {
    const { own = ["fetchwork"], isCount = false, ...rest } = name;
    const rows = [...samples].map(([each, taken]) => rowOf(each, taken, { own, samples, isCount }));
    const counts = [...samples.values()].map((taken) => (Array.isArray(taken) ? taken.length : 0));
    const rounds = Math.max(...counts);
    const measure = { ...rest, rounds, ...(isCount && { isCount }), rows };
    this.#measures.push(measure);
    printMeasure(measure);
  }

  /** Adds a figure of ours that has no peer. */
  addOwn(name: MeasureName, values: readonly number[]): void {
    this.add(name, new Map([["fetchwork", values.map((value) => ({ value }))]]));
  }

  /** Writes the results, and ends the process with whatever is left of what was measured. */
  close(): never {
    if (this.#measures.length === 0) throw new Error(`${this.#part} measured nothing`);
    this.#write();
    process.exit();
  }

  #write(): void {
    const seconds = Math.round((performance.now() - this.#startedAt) / 1000);
    console.log(`\n${this.#part}: ${seconds} s`);
    if (this.settings.file === undefined) return;
    const results: PartResults = {
      part: this.#part,
      date: this.#date,
      commit: thisCommit(),
      isQuick: this.settings.isQuick,
      machine: thisMachine(),
      load: { start: rounded(this.#load), end: rounded(os.loadavg()[0] ?? 0) },
      seconds,
      versions: this.#versions,
      absent: this.#absent,
      measures: this.#measures,
    };
    const short = (_key: string, value: unknown): unknown =>
      typeof value === "number" ? rounded(value) : value;
    writeFileSync(this.settings.file, `${JSON.stringify(results, short, 2)}\n`);
  }
}

interface RowContext {
  readonly own: readonly string[];
  readonly samples: ReadonlyMap<string, unknown>;
  readonly isCount: boolean;
}

function rowOf(
  name: string,
  taken: readonly Sample[] | string,
  { own, samples, isCount }: RowContext,
): Row {
  const isOwn = own.includes(name);
  if (typeof taken === "string") return { name, ...(isOwn && { own: true }), failed: taken };
  const values = taken.map(({ value }) => value);
  const first = samples.get(own[0] ?? "");
  const ours = Array.isArray(first) ? (first as Sample[]).map(({ value }) => value) : [];
  const rates = taken.flatMap(({ rate }) => (rate === undefined ? [] : [rate]));
  const more = moreOf(taken);
  const isCompared = !isCount && name !== own[0];
  const ratio = isCompared ? ratioOf(ours, values) : undefined;
  return {
    name,
    ...(isOwn && { own: true }),
    value: isCount ? rangeOf(values) : spreadOf(values),
    ...(ratio !== undefined && { ratio }),
    ...(rates.length > 0 && { rate: median(rates) }),
    ...(more !== undefined && { more }),
  };
}

/** None when something costs nothing. */
function ratioOf(ours: readonly number[], theirs: readonly number[]): Spread | undefined {
  const ratios = ratiosOf(ours, theirs);
  return ratios.length > 0 && ratios.every(Number.isFinite) ? spreadOf(ratios) : undefined;
}

function moreOf(taken: readonly Sample[]): Record<string, number> | undefined {
  const headings = new Set(taken.flatMap(({ more }) => Object.keys(more ?? {})));
  if (headings.size === 0) return undefined;
  const entries = [...headings].map((heading): [string, number] => [
    heading,
    median(taken.flatMap(({ more }) => more?.[heading] ?? [])),
  ]);
  return Object.fromEntries(entries);
}

/** Five digits tell all. */
function rounded(value: number): number {
  return Math.abs(value) >= 10_000 ? Math.round(value) : Number(value.toPrecision(5));
}
