/** A part of a file: first byte and last byte. */
export interface ByteRange {
  readonly start: number;
  /** Included. */
  readonly end: number;
}

// A client that wants more than this wants to make work.
const maxRanges = 16;

/**
 * Reads a `Range` field for a representation of `size` bytes (RFC 9110, 14.1.2 and 14.2).
 *
 * Returns the ranges in the order of the field; `unsatisfiable` when all of them are outside; and
 * undefined when the field is to be ignored: another unit, a malformed field, more than 16 ranges,
 * or ranges that overlap or ask for more than the whole, which would let a small request cause a
 * large response.
 */
export function parseRange(
  field: string | null,
  size: number,
): readonly ByteRange[] | "unsatisfiable" | undefined {
  if (field === null) return undefined;
  const match = /^bytes=(.*)$/i.exec(field);
  if (match?.[1] === undefined) return undefined;
  const specs = match[1].split(",", maxRanges + 1);
  if (specs.length > maxRanges) return undefined;
  const ranges: ByteRange[] = [];
  for (const spec of specs) {
    const range = parseSpec(spec, size);
    if (range === undefined) return undefined;
    if (range !== "outside") ranges.push(range);
  }
  if (ranges.length === 0) return "unsatisfiable";
  return overlap(ranges) ? undefined : ranges;
}

function parseSpec(spec: string, size: number): ByteRange | "outside" | undefined {
  const match = /^[\t ]*(\d{0,15})-(\d{0,15})[\t ]*$/.exec(spec);
  const [, first = "", last = ""] = match ?? [];
  if (first === "" && last === "") return undefined;
  if (first === "") {
    const length = Math.min(Number(last), size);
    return length === 0 ? "outside" : { start: size - length, end: size - 1 };
  }
  const start = Number(first);
  if (last !== "" && Number(last) < start) return undefined;
  if (start >= size) return "outside";
  return { start, end: last === "" ? size - 1 : Math.min(Number(last), size - 1) };
}

function overlap(ranges: readonly ByteRange[]): boolean {
  const sorted = ranges.toSorted((a, b) => a.start - b.start);
  return sorted.some((range, index) => range.start <= (sorted[index - 1]?.end ?? -1));
}
