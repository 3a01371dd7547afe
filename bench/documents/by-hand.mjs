// What those compute from the documents that they find who have no groups of their own.

/** Counts each tag once for a document; the ten most frequent come first, of equal ones the smaller text. */
export function countTags(documents) {
  const counts = new Map();
  for (const { tags } of documents) {
    for (const tag of new Set(tags)) counts.set(tag, (counts.get(tag) ?? 0) + 1);
  }
  return [...counts]
    .map(([value, count]) => ({ value, count }))
    .toSorted((one, other) => other.count - one.count || (one.value < other.value ? -1 : 1))
    .slice(0, 10);
}

/** Adds the views of the documents of each state. */
export function sumViews(documents) {
  const sums = new Map();
  for (const { state, views } of documents) sums.set(state, (sums.get(state) ?? 0) + views);
  return [...sums].map(([state, views]) => ({ state, views }));
}
