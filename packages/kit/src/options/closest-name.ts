/**
 * Finds the name that was probably meant by a misspelled one: a name that is equal except for case
 * and separators, or one with at most two letters (in short names one) wrong, missing, added or
 * swapped. Returns `undefined` when there is none.
 */
export function closestName(misspelled: string, names: readonly string[]): string | undefined {
  if (misspelled.length > maxLength) return undefined;
  const plain = simplify(misspelled);
  let closest: string | undefined;
  let smallest = plain.length < 5 ? 2 : 3;
  for (const name of names) {
    const distance = editDistance(plain, simplify(name));
    if (distance < smallest) {
      smallest = distance;
      closest = name;
    }
  }
  return closest;
}

/** Longer than any name: the time grows with the square of the length. */
const maxLength = 64;

function simplify(name: string): string {
  return name.replace(/[-_\s]/g, "").toLowerCase();
}

/** Minimum number of insertions, deletions, replacements and swaps between two texts. */
function editDistance(left: string, right: string): number {
  let beforePrevious: number[] = [];
  let previous = Array.from({ length: right.length + 1 }, (_, index) => index);
  for (let row = 1; row <= left.length; row += 1) {
    const current = [row];
    for (let column = 1; column <= right.length; column += 1) {
      const isSame = left[row - 1] === right[column - 1];
      const isSwap =
        row > 1 &&
        column > 1 &&
        left[row - 1] === right[column - 2] &&
        left[row - 2] === right[column - 1];
      current[column] = Math.min(
        (previous[column] ?? 0) + 1,
        (current[column - 1] ?? 0) + 1,
        (previous[column - 1] ?? 0) + (isSame ? 0 : 1),
        isSwap ? (beforePrevious[column - 2] ?? 0) + 1 : Infinity,
      );
    }
    beforePrevious = previous;
    previous = current;
  }
  return previous[right.length] ?? 0;
}
