/** @typedef {{ readonly kind: "same" | "old" | "new"; readonly text: string }} DiffLine */

/** More edits than this are shown as a whole new text: finding them would hold up the page. */
const mostEdits = 3_000;

/**
 * The difference of two texts by lines (Myers, "An O(ND) Difference Algorithm", 1986).
 *
 * @param {string} before
 * @param {string} after
 * @returns {readonly DiffLine[]}
 */
export function diffLines(before, after) {
  const [a, b] = [split(before), split(after)];
  let start = 0;
  while (start < a.length && start < b.length && a[start] === b[start]) start += 1;
  let end = 0;
  while (end < a.length - start && end < b.length - start && a.at(-1 - end) === b.at(-1 - end)) {
    end += 1;
  }
  const middle = edits(a.slice(start, a.length - end), b.slice(start, b.length - end));
  return [
    ...a.slice(0, start).map((text) => line("same", text)),
    ...middle,
    ...a.slice(a.length - end).map((text) => line("same", text)),
  ];
}

/** @param {string} text */
function split(text) {
  const lines = text.split("\n");
  if (lines.at(-1) === "") lines.pop();
  return lines;
}

/**
 * @param {readonly string[]} a
 * @param {readonly string[]} b
 * @returns {readonly DiffLine[]}
 */
function edits(a, b) {
  /** @type {Map<number, number>[]} */
  const steps = [];
  const ends = new Map([[1, 0]]);
  const most = Math.min(a.length + b.length, mostEdits);
  for (let edit = 0; edit <= most; edit += 1) {
    steps.push(new Map(ends));
    for (let k = -edit; k <= edit; k += 2) {
      const down = k === -edit || (k !== edit && (ends.get(k - 1) ?? 0) < (ends.get(k + 1) ?? 0));
      let x = down ? (ends.get(k + 1) ?? 0) : (ends.get(k - 1) ?? 0) + 1;
      while (x < a.length && x - k < b.length && a[x] === b[x - k]) x += 1;
      ends.set(k, x);
      if (x >= a.length && x - k >= b.length) return walk(a, b, steps);
    }
  }
  return [...a.map((text) => line("old", text)), ...b.map((text) => line("new", text))];
}

/**
 * @param {readonly string[]} a
 * @param {readonly string[]} b
 * @param {readonly Map<number, number>[]} steps
 * @returns {readonly DiffLine[]}
 */
function walk(a, b, steps) {
  /** @type {DiffLine[]} */
  const lines = [];
  let [x, y] = [a.length, b.length];
  for (let edit = steps.length - 1; edit >= 0; edit -= 1) {
    const ends = steps[edit] ?? /** @type {Map<number, number>} */ (new Map());
    const k = x - y;
    const down = k === -edit || (k !== edit && (ends.get(k - 1) ?? 0) < (ends.get(k + 1) ?? 0));
    const from = down ? k + 1 : k - 1;
    const fromX = ends.get(from) ?? 0;
    const fromY = fromX - from;
    while (x > fromX && y > fromY && x > 0 && y > 0) {
      lines.push({ kind: "same", text: a[(x -= 1)] ?? "" });
      y -= 1;
    }
    if (edit === 0) break;
    if (down) lines.push({ kind: "new", text: b[(y -= 1)] ?? "" });
    else lines.push({ kind: "old", text: a[(x -= 1)] ?? "" });
  }
  return lines.toReversed();
}

/**
 * @param {DiffLine["kind"]} kind
 * @param {string} text
 * @returns {DiffLine}
 */
function line(kind, text) {
  return { kind, text };
}
