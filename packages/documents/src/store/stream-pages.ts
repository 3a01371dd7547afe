import type { Page } from "../api/page.ts";

/** Documents of a part: few enough for the memory when they are large, and many for the cost of a statement. */
const partSize = 200;

/** Reads page after page, up to so many documents in all, and only when the one before is used up. */
export async function* streamPages<D>(
  readPage: (part: {
    readonly after: string | undefined;
    readonly limit: number;
  }) => Promise<Page<D>>,
  { after, limit }: { readonly after: string | undefined; readonly limit: number },
): AsyncGenerator<D, void, undefined> {
  let next = after;
  for (let left = limit; left > 0; left -= partSize) {
    const page = await readPage({ after: next, limit: Math.min(partSize, left) });
    yield* page.items;
    if (page.next === undefined) return;
    next = page.next;
  }
}
