import type { Spread } from "./statistics.ts";

/** What one command of `bench/` measured. */
export interface PartResults {
  /** The folder of the part. */
  readonly part: string;
  /** As in `2026-11-21T15:04:05.000Z`. */
  readonly date: string;
  readonly commit: string;
  readonly isQuick: boolean;
  readonly machine: Machine;
  /** Mean of the last minute, when it began and when it ended. */
  readonly load: { readonly start: number; readonly end: number };
  /** How long all took. */
  readonly seconds: number;
  /** Of the peers, as their package.json says. */
  readonly versions: Readonly<Record<string, string>>;
  /** What is not measured, and why. */
  readonly absent: Readonly<Record<string, string>>;
  readonly measures: readonly Measure[];
}

export interface Machine {
  readonly cpu: string;
  readonly cores: number;
  /** Of memory. */
  readonly gibibytes: number;
  readonly system: string;
  readonly node: string;
}

/** One work, done by several. */
export interface Measure {
  /** Measures of a group and a unit make a table. */
  readonly group: string;
  readonly work: string;
  /** Of the values, as in "CPU µs". */
  readonly unit: string;
  /** How large what it is done with is, where that is the question. */
  readonly size?: number;
  readonly rounds: number;
  /** Said of counts, whose values have the range of all rounds, and no ratio. */
  readonly isCount?: boolean;
  readonly rows: readonly Row[];
}

/** What a work cost one of them. */
export interface Row {
  readonly name: string;
  /** Said of ours; the first of ours is what the others are compared with. */
  readonly own?: boolean;
  readonly value?: Spread;
  /** Ours over this one's, round by round: below 1 ours costs less. */
  readonly ratio?: Spread;
  /** How often in a second. */
  readonly rate?: number;
  /** Further figures, by their heading. */
  readonly more?: Readonly<Record<string, number>>;
  /** Why there is no value. */
  readonly failed?: string;
}
