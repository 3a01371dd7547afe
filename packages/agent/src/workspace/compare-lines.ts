/**
 * Most steps of comparing two parts: pairs of equal lines, times the lines of the shorter part. A tenth of a second or
 * two; texts of one line that is repeated have the third power of their length.
 */
const mostSteps = 20_000_000;

/** Lines with their ends, so that the last one is compared with what ends it. */
export function linesOf(text: string): string[] {
  return text.match(/[^\n]*\n|[^\n]+$/g) ?? [];
}

/** A part of each text, as its first line and the one after its last, in the order of the texts. */
export type AlignedPart = readonly (readonly [number, number])[];

/**
 * The parts of texts that have to be compared. All lines between them are the same in every text: lines that each text
 * has once, as far as they stand in the same order, and those next to them.
 */
export function alignParts(texts: readonly (readonly string[])[]): readonly AlignedPart[] {
  const parts: AlignedPart[] = [];
  let starts = texts.map(() => 0);
  const ends = texts.map(({ length }) => length);
  for (const anchor of [...anchorsOf(texts), ends]) {
    const part = withoutCommonEnds(texts, starts, anchor);
    if (part.some(([from, to]) => from < to)) parts.push(part);
    starts = anchor.map((line) => line + 1);
  }
  return parts;
}

/** Whether two parts can be compared in a moment. */
export function isComparable(left: readonly string[], right: readonly string[]): boolean {
  const counts = new Map<string, number>();
  for (const line of left) counts.set(line, (counts.get(line) ?? 0) + 1);
  let pairs = 0;
  for (const line of right) pairs += counts.get(line) ?? 0;
  return pairs * Math.min(left.length, right.length) <= mostSteps;
}

function anchorsOf(texts: readonly (readonly string[])[]): readonly (readonly number[])[] {
  const [first = new Map<string, number>(), ...others] = texts.map(onceIn);
  let anchors: readonly (readonly number[])[] = [...first].flatMap(([line, at]) => {
    const places = others.flatMap((other) => other.get(line) ?? []);
    return places.length === others.length ? [[at, ...places]] : [];
  });
  for (const index of others.keys()) anchors = longestRising(anchors, index + 1);
  return anchors;
}

/** Lines that a text has once, with their places, in their order. */
function onceIn(lines: readonly string[]): Map<string, number> {
  const places = new Map<string, number>();
  const several = new Set<string>();
  for (const [at, line] of lines.entries()) {
    if (places.has(line)) several.add(line);
    else places.set(line, at);
  }
  for (const line of several) places.delete(line);
  return places;
}

/** The longest subsequence whose places in one of the texts rise (patience sorting). */
function longestRising(
  anchors: readonly (readonly number[])[],
  index: number,
): readonly (readonly number[])[] {
  const at = (anchor: number): number => anchors[anchor]?.[index] ?? 0;
  const tops: number[] = [];
  const previous: (number | undefined)[] = [];
  for (const anchor of anchors.keys()) {
    let low = 0;
    let high = tops.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      if (at(tops[middle] ?? 0) < at(anchor)) low = middle + 1;
      else high = middle;
    }
    previous[anchor] = low === 0 ? undefined : tops[low - 1];
    tops[low] = anchor;
  }
  const chain: (readonly number[])[] = [];
  for (let anchor = tops.at(-1); anchor !== undefined; anchor = previous[anchor]) {
    const places = anchors[anchor];
    if (places !== undefined) chain.push(places);
  }
  return chain.toReversed();
}

function withoutCommonEnds(
  texts: readonly (readonly string[])[],
  starts: readonly number[],
  ends: readonly number[],
): AlignedPart {
  const parts = texts.map((lines, index) => lines.slice(starts[index], ends[index]));
  const [first = [], ...others] = parts;
  const shortest = Math.min(...parts.map(({ length }) => length));
  let before = 0;
  while (before < shortest && others.every((other) => other[before] === first[before])) before += 1;
  let after = 0;
  while (
    after < shortest - before &&
    others.every((other) => other.at(-1 - after) === first.at(-1 - after))
  ) {
    after += 1;
  }
  return starts.map((start, index) => [start + before, (ends[index] ?? start) - after]);
}
