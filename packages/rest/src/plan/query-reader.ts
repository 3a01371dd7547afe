import type { ResourceCall } from "../resource/call.ts";
import type { ListQuery, ListRules } from "../resource/list-rules.ts";
import type { Resource } from "../resource/resource.ts";
import { createListReader, type ListReader } from "./list-query.ts";
import { withoutPopulate } from "./populate-parameter.ts";

/** Reads the parameters of a list for the caller; `populate` is left to `readPopulate`. */
export type QueryReader = (
  call: Pick<ResourceCall<unknown>, "query" | "user" | "isMaster">,
) => ListQuery;

/**
 * Makes the function that reads the parameters of a list, with everything prepared that no request changes.
 *
 * A caller cannot sort, filter or search by fields that it does not see: for that caller there are no such parameters.
 */
export function createQueryReader(resource: Resource): QueryReader {
  const readers = new Map<ListRules, ListReader>();
  return (call) => {
    const rules = resource.views.rulesFor(call);
    let read = readers.get(rules);
    if (!read) readers.set(rules, (read = createListReader(rules)));
    return read(withoutPopulate(resource, call.query));
  };
}
