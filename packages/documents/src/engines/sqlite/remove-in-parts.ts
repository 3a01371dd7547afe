import type { Access } from "../engine.ts";
import type { Row } from "../operation.ts";
import type { Removal } from "../operations/removal.ts";
import type { Budget } from "./connection/budget.ts";
import { isFull } from "./disk-room.ts";
import { type Begun, beginRemoval, removalParts, removePart } from "./removal-parts.ts";
import type { SqliteLayout } from "./statements/layout.ts";

/** What is removed, and for how long reads may hold up the event loop. */
interface Job {
  readonly layout: SqliteLayout;
  readonly removal: Removal;
  readonly budget: Budget | undefined;
}

/**
 * Removes documents and returns their number. Many are looked for first, in another thread when that takes long, and removed
 * in parts: other work comes in between. What changed after it was found is removed if it is still selected.
 */
export async function removeInParts(
  access: Pick<Access, "find" | "free">,
  { layout, removal, budget }: Job,
): Promise<number> {
  const begun = await access
    .free(layout, () => {
      budget?.begin();
      return beginRemoval(layout, removal, { isTimed: budget !== undefined });
    })
    .catch((error: unknown): Begun => {
      if (!isFull(error)) throw error;
      return { count: 0, left: removal };
    });
  if (begun.left === undefined) return begun.count;
  const plan = { removal: begun.left };
  const keyOf = ([key = null]: Row): Row[number] => key;
  const { items: keys } = await access.find(layout, plan, keyOf);
  let count = 0;
  for (const part of removalParts(keys)) {
    count += await removeKeys(access, { layout, removal, keys: part });
  }
  return count;
}

/** On a full disk, what a part writes may not fit where that of half of it does. */
async function removeKeys(
  access: Pick<Access, "free">,
  part: Pick<Job, "layout" | "removal"> & { readonly keys: readonly Row[number][] },
): Promise<number> {
  const { layout, removal, keys } = part;
  try {
    return await access.free(layout, () => removePart(layout, removal, keys));
  } catch (error) {
    if (!isFull(error) || keys.length === 1) throw error;
  }
  const half = Math.ceil(keys.length / 2);
  const first = await removeKeys(access, { ...part, keys: keys.slice(0, half) });
  return first + (await removeKeys(access, { ...part, keys: keys.slice(half) }));
}
