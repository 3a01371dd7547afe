import type { ListRules } from "../resource/list-rules.ts";
import type { Resource } from "../resource/resource.ts";
import type { Viewer } from "../resource/views.ts";

/**
 * Makes the function that finds the reader of parameters for a caller. A caller cannot sort, filter
 * or search by fields that it does not see: for that caller there are no such parameters.
 */
export function byCaller<Reader>(
  { views }: Pick<Resource, "views">,
  make: (rules: ListRules) => Reader,
): (viewer: Viewer) => Reader {
  const readers = new Map<ListRules, Reader>();
  return (viewer) => {
    const rules = views.rulesFor(viewer);
    let reader = readers.get(rules);
    if (reader === undefined) readers.set(rules, (reader = make(rules)));
    return reader;
  };
}
