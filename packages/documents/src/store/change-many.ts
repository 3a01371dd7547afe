import type { Access } from "../engines/engine.ts";
import type { Layout } from "../engines/layout.ts";
import type { Row } from "../engines/operation.ts";
import { changeRows, type ManyModifications } from "../engines/operations/change-many.ts";

/** Documents of a part, which takes some 10 milliseconds on SQLite. */
const partSize = 250;

/** Changes the documents of a filter, in parts outside a transaction; returns a count. */
export async function changeMany<T>(
  access: Access,
  layout: Layout,
  changes: ManyModifications<T>,
): Promise<number> {
  const plan = { removal: { kind: "remove", filter: changes.filter } } as const;
  const { items: keys } = await access.find(layout, plan, keyOf);
  const size = access.isTransaction ? Math.max(1, keys.length) : partSize;
  let count = 0;
  for (let first = 0; first < keys.length; first += size) {
    const part = keys.slice(first, first + size);
    count += await access.write(layout, () => changeRows(layout, part, changes));
  }
  return count;
}

function keyOf([key = null]: Row): Row[number] {
  return key;
}
