import type { Resource } from "@fetchwork/rest";
import type { ShownRequest } from "../finding.ts";
import { canaryOf } from "../world/canary.ts";
import type { World } from "../world/open-world.ts";
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
  { openApi, store }: World,
  { collection, list, path, searchable }: Resource,
  number: number,
): Promise<readonly ListRequest[]> {
  const made = await store.collection(collection).get(madeId(number));
  const { filters = [], names = {}, parameters = {}, sortable } = list;
  const asked: ListRequest[] = [];

  ask("list", {});
  const page = names.page ?? "page";
  if (page !== false) ask("count", { [page]: 1 });
  const q = names.q ?? "q";
  const word = collection.search.map(valueOf).find((value) => typeof value === "string");
  if (searchable && q !== false && word !== undefined) {
    // A word of one document, and one of nearly all.
    for (const one of [word, word.slice(0, 3)]) ask("search", { [q]: one });
  }
  const sort = names.sort ?? "sort";
  const orders = sort === false ? [] : sortable.flatMap((field) => [field, `-${field}`]);
  for (const order of orders) ask("sort", { [String(sort)]: order }, [plain(order)]);
  for (const { path: field } of filters) {
    const value = valueOf(field);
    if (value === undefined) continue;
    ask("filter", { [field]: value }, [field]);
    for (const order of orders.filter((one) => plain(one) !== field)) {
      ask("filter", { [field]: value, [String(sort)]: order }, [field, plain(order)]);
    }
  }
  for (const name of Object.keys(parameters)) {
    ask(`parameter ${name}`, { [name]: canaryOf(schemaOf(name), 1) });
  }
  return asked;

  function ask(
    way: string,
    query: Readonly<Record<string, unknown>>,
    fields: readonly string[] = [],
  ): void {
    const sent = Object.entries(query).map(
      ([name, value]) => `${name}=${encodeURIComponent(String(value))}`,
    );
    const request = { method: "GET", path: [path, sent.join("&")].filter(Boolean).join("?") };
    asked.push({ way, fields, request });
  }

  function valueOf(field: string): unknown {
    const value = field
      .split(".")
      .reduce<unknown>((at, name) => Reflect.get(Object(at), name), made);
    return Array.isArray(value) ? value[0] : value;
  }

  function schemaOf(name: string): Parameters<typeof canaryOf>[0] {
    const { parameters: described = [] } = Object(openApi.paths[path]?.["get"]) as {
      readonly parameters?: readonly { readonly name: string; readonly schema?: object }[];
    };
    return { ...described.find((one) => one.name === name)?.schema };
  }
}

function plain(order: string): string {
  return order.replace(/^-/, "");
}
