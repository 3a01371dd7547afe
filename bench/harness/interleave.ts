import type { Settings } from "./settings.ts";
import { ratiosOf, uncertainty } from "./statistics.ts";

/** What a work cost in one round. */
export interface Sample {
  readonly value: number;
  /** How often in a second. */
  readonly rate?: number;
  /** Further figures, by their heading. */
  readonly more?: Readonly<Record<string, number>>;
}

/** Several that do the same work in turn. */
export interface Interleaving {
  /** Who takes part; the others are compared with the first. */
  readonly names: readonly string[];
  /** Lets one do the work; `undefined` when it cannot. */
  readonly measure: (
    name: string,
    round: Round,
  ) => Promise<Sample | undefined> | Sample | undefined;
  /** How long a full run may measure, at most. A quick one takes a fourth of it. */
  readonly seconds: number;
  /** Rounds that are not counted, before the others. Default: 1. */
  readonly warmUp?: number;
  /** The least rounds of a full run; a quick one is content with 3. Default: 5. */
  readonly least?: number;
}

export interface Round {
  readonly isWarmUp: boolean;
}

const MOST = 60;

/**
 * Each round asks each in turn, in another order each time. The rounds end when the medians of all
 * ratios are known to within about 1.5 % (3 % when quick), or the time is over, or there were 60;
 * or at exactly the number that was asked for.
 */
export async function interleave(
  interleaving: Interleaving,
  { rounds, isQuick }: Pick<Settings, "rounds" | "isQuick">,
): Promise<ReadonlyMap<string, readonly Sample[]>> {
  const { names, measure, warmUp = 1 } = interleaving;
  const samples = new Map<string, Sample[]>(names.map((name) => [name, []]));
  const seconds = isQuick ? interleaving.seconds / 4 : interleaving.seconds;
  const least = isQuick ? 3 : (interleaving.least ?? 5);
  const end = performance.now() + seconds * 1000;
  const isOver = (done: number): boolean => {
    if (rounds !== undefined) return done >= rounds;
    if (done < least) return false;
    if (done >= MOST || performance.now() >= end) return true;
    return isSteady([...samples.values()], isQuick ? 0.03 : 0.015);
  };
  for (let round = -warmUp; round < 0 || !isOver(round); round += 1) {
    for (const name of orderOf(names, round + warmUp)) {
      const sample = await measure(name, { isWarmUp: round < 0 });
      if (round >= 0 && sample !== undefined) samples.get(name)?.push(sample);
    }
  }
  for (const [name, taken] of samples) if (taken.length === 0) samples.delete(name);
  return samples;
}

/**
 * Begins with another one each time, and goes backwards every other time, so that nobody always
 * follows the same one.
 */
function orderOf(names: readonly string[], round: number): readonly string[] {
  const turn = round % names.length;
  const order = [...names.slice(turn), ...names.slice(0, turn)];
  return round % 2 === 0 ? order : order.toReversed();
}

function isSteady(samples: readonly (readonly Sample[])[], limit: number): boolean {
  const [own = [], ...others] = samples.map((taken) => taken.map(({ value }) => value));
  if (others.length === 0) return uncertainty(own) <= limit;
  return others.every(
    (theirs) => theirs.length === 0 || uncertainty(ratiosOf(own, theirs)) <= limit,
  );
}
