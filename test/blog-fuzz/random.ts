/** Numbers that follow from a seed. */
export interface Random {
  /** Returns a whole number from 0 to below a limit. */
  below(limit: number): number;
  /** Returns `true` with a probability from 0 to 1. */
  chance(probability: number): boolean;
  pick<T>(values: readonly [T, ...T[]]): T;
  /** Returns one of the values, or the default where there are none. */
  pickOr<T>(values: readonly T[], fallback: T): T;
}

/** Makes a generator of 32 bits (mulberry32). */
export function createRandom(seed: number): Random {
  let state = seed >>> 0;
  const next = (): number => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
  const below = (limit: number): number => Math.floor(next() * limit);
  return {
    below,
    chance: (probability) => next() < probability,
    pick: (values) => values[below(values.length)] ?? values[0],
    pickOr: (values, fallback) => values[below(values.length)] ?? fallback,
  };
}
