/** Numbers from 0 up to, but without, a limit: the same for the same seed. */
export function randomNumbers(seed: number): (limit: number) => number {
  let state = seed >>> 0;
  return (limit) => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) % limit;
  };
}

/** All of a list, in another order. */
export function shuffled<T>(list: readonly T[], random: (limit: number) => number): readonly T[] {
  const left = [...list];
  return list.flatMap(() => left.splice(random(left.length), 1));
}
