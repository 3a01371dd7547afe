/** Names a number of documents: `1 document`, `2 documents`. */
export function documentCount(count: number): string {
  return `${count} ${count === 1 ? "document" : "documents"}`;
}
