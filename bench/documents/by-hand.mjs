// What those compute from the documents that they find who have no separate groups.

/** Adds the views of the documents of each state. */
export function sumViews(documents) {
  const sums = new Map();
  for (const { state, views } of documents) sums.set(state, (sums.get(state) ?? 0) + views);
  return [...sums].map(([state, views]) => ({ state, views }));
}
