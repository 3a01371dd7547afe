import type { Access } from "../engine.ts";
import type { Row } from "../operation.ts";
import type { Removal } from "../operations/removal.ts";
import type { Budget } from "./connection/budget.ts";
import { beginRemoval, removalParts, removePart } from "./removal-parts.ts";
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
  access: Pick<Access, "find" | "write">,
  { layout, removal, budget }: Job,
): Promise<number> {
  const begun = await access.write(layout, () => {
    budget?.begin();
    return beginRemoval(layout, removal, { isTimed: budget !== undefined });
  });
  if (begun.left === undefined) return begun.count;
  const plan = { removal: begun.left };
  const { items: keys } = await access.find(layout, plan, keyOf);
  let count = 0;
  for (const part of removalParts(keys)) {
    count += await access.write(layout, () => removePart(layout, removal, part));
  }
  return count;
}

function keyOf([key = null]: Row): Row[number] {
  return key;
}
