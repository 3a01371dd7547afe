/** The middle of several values, and how far they lie apart. */
export interface Spread {
  readonly median: number;
  /** The first quartile; of counts the lowest. */
  readonly low: number;
  /** The third quartile; of counts the highest. */
  readonly high: number;
}

/** The value below which a part of all lie, between two of them in proportion. */
export function quantile(values: readonly number[], part: number): number {
  const sorted = values.toSorted((one, other) => one - other);
  const at = (sorted.length - 1) * part;
  const [low = Number.NaN, high = low] = sorted.slice(Math.floor(at), Math.floor(at) + 2);
  return low + (high - low) * (at - Math.floor(at));
}

export function median(values: readonly number[]): number {
  return quantile(values, 0.5);
}

export function spreadOf(values: readonly number[]): Spread {
  return { median: median(values), low: quantile(values, 0.25), high: quantile(values, 0.75) };
}

/** The spread of counts, with the lowest and the highest of all rounds. */
export function rangeOf(values: readonly number[]): Spread {
  return { median: median(values), low: quantile(values, 0), high: quantile(values, 1) };
}

/** Ours over theirs, round by round. */
export function ratiosOf(own: readonly number[], theirs: readonly number[]): readonly number[] {
  return own.flatMap((value, round) => {
    const other = theirs[round];
    return other === undefined ? [] : [value / other];
  });
}

/** About the standard error of the median, as a part of it. */
export function uncertainty(values: readonly number[]): number {
  const { median, low, high } = spreadOf(values);
  return (0.93 * (high - low)) / Math.sqrt(values.length) / median;
}
