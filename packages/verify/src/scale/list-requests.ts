import type { Resource } from "@fetchwork/rest";
import type { ShownRequest } from "../finding.ts";
import { canaryOf } from "../world/canary.ts";
import type { World } from "../world/open-world.ts";
import { withQuery } from "../world/with-query.ts";
import { madeId } from "./fill-store.ts";

/** A request for a list. */
export interface ListRequest {
  /** `list`, `count`, `search`, `sort`, `filter`, or `parameter` with its name. */
  readonly way: string;
  /** The fields of an index that would serve it, its own first; none where none can. */
  readonly fields: readonly string[];
  readonly request: ShownRequest;
}

/**
 * Requests by each parameter, and by each filter in each order, with values of a made document.
 *
 * @param number - Number of the document.
 */
export async function listRequests(
  { store }: World,
  { collection, list, path, searchable }: Resource,
  number: number,
): Promise<readonly ListRequest[]> {
  const made = await store.collection(collection).get(madeId(number));
  const { filters = [], parameters = {}, sortable } = list;
  const asked: ListRequest[] = [];

  ask("list", {});
  ask("count", { page: 1 });
  const word = collection.search.map(valueOf).find((value) => typeof value === "string");
  if (searchable && word !== undefined) {
    // A word of one document, and one of nearly all.
    for (const one of [word, word.slice(0, 3)]) ask("search", { q: one });
  }
  const orders = sortable.flatMap((field) => [field, `-${field}`]);
  for (const order of orders) ask("sort", { sort: order }, [plain(order)]);
  for (const { path: field } of filters) {
    const value = valueOf(field);
    if (value === undefined) continue;
    ask("filter", { [field]: value }, [field]);
    for (const order of orders.filter((one) => plain(one) !== field)) {
      ask("filter", { [field]: value, sort: order }, [field, plain(order)]);
    }
  }
  for (const [name, { schema }] of Object.entries(parameters)) {
    const described = schema["~standard"].jsonSchema.input({ target: "draft-2020-12" });
    ask(`parameter ${name}`, { [name]: canaryOf(described, 1) });
  }
  return asked;

  function ask(
    way: string,
    query: Readonly<Record<string, unknown>>,
    fields: readonly string[] = [],
  ): void {
    asked.push({ way, fields, request: { method: "GET", path: withQuery(path, query) } });
  }

  function valueOf(field: string): unknown {
    const value = field
      .split(".")
      .reduce<unknown>((at, name) => Reflect.get(Object(at), name), made);
    return Array.isArray(value) ? value[0] : value;
  }
}

function plain(order: string): string {
  return order.replace(/^-/, "");
}
