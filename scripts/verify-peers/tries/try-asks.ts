import { neighbours } from "../../../packages/verify/src/tries/try-asks.ts";
import { type Collection, kindOf, type QueryPair } from "../api.ts";
import type { Matrix, Target } from "../matrix.ts";
import type { Answer } from "../sender.ts";

/** A value that a caller may not read, and the path to it from documents of a list. */
interface Hidden {
  readonly target: Target;
  readonly field: string;
  readonly path: string;
  readonly pairs: readonly QueryPair[];
}

/**
 * Asks for every value that a caller may not read by filters, search and order, also those of
 * relations.
 */
export async function tryAsks(matrix: Matrix): Promise<void> {
  const { api, sender } = matrix;
  for (const collection of api.collections) {
    for (const caller of api.callers) {
      const { status } = await sender.send(caller, { method: "GET", path: collection.path });
      if (status >= 400) continue;
      for (const hidden of hiddenFrom(matrix, caller, collection)) {
        await tryHidden(matrix, collection, hidden);
      }
    }
  }
}

async function tryHidden(matrix: Matrix, collection: Collection, hidden: Hidden): Promise<void> {
  const { field, target } = hidden;
  for (const pair of [...hidden.pairs, matrix.api.dialect.order(hidden.path)]) {
    const answer = await isTold(matrix, hidden, { pair, list: collection.path });
    if (answer === undefined) continue;
    const isOwn = target.collection === collection;
    const way = isOwn ? pair.way : `${pair.way} of ${collection.name}`;
    matrix.note("inferred", target, { answer, field, way });
  }
}

function hiddenFrom(
  { api }: Matrix,
  caller: Target["caller"],
  collection: Collection,
): readonly Hidden[] {
  const near = Object.entries(collection.relations).flatMap(([field, name]) => {
    const target = api.collections.find((one) => one.name === name);
    return target === undefined ? [] : [{ prefix: `${field}.`, collection: target }];
  });
  return [{ prefix: "", collection }, ...near].flatMap((place) =>
    place.collection.documents.flatMap((document) => {
      const target: Target = { caller, collection: place.collection, document };
      const isHidden = (field: string): boolean =>
        !place.collection.mayRead(kindOf(caller, document), field, document);
      const asked = Object.entries(document.values).map(([field, value]) => {
        const other = neighbours(value).another as typeof value;
        const path = place.prefix + field;
        return { target, field, path, pairs: api.dialect.asks(path, value, other) };
      });
      const begun = Object.entries(document.beginnings ?? {}).map(([field, beginning]) => {
        const path = place.prefix + field;
        const pairs = api.dialect.beginningAsks(path, beginning, `~${beginning}`);
        return { target, field, path, pairs };
      });
      return [...asked, ...begun].filter(({ field }) => isHidden(field));
    }),
  );
}

/** Resolves to the response of the first query when the value decides what it is. */
async function isTold(
  { sender }: Matrix,
  { target }: Hidden,
  { pair, list }: { readonly pair: QueryPair; readonly list: string },
): Promise<Answer | undefined> {
  const ask = (query: string): Promise<Answer> =>
    sender.send(target.caller, { method: "GET", path: `${list}?${query}` });
  const one = await ask(pair.one);
  if (one.status === 0 || one.status >= 400) return undefined;
  const other = await ask(pair.other);
  if (other.status === 0 || other.status >= 400) return undefined;
  // The parameters of an order are words, which may stand in a response for another reason.
  const sent = pair.way === "sort" ? [] : [...sentIn(one), ...sentIn(other)];
  if (without(sent, one) === without(sent, other)) return undefined;
  // A response that differs from itself tells nothing.
  const again = await ask(pair.one);
  return without(sent, one) === without(sent, again) ? one : undefined;
}

function sentIn({ request }: Answer): readonly string[] {
  const values = [...new URL(request.path, "http://localhost").searchParams.values()];
  return values.flatMap((value) => [value, encodeURIComponent(value)]);
}

/** A response that repeats what was asked for tells nothing by that. */
function without(sent: readonly string[], { text }: Answer): string {
  return sent
    .filter((value) => value.length > 3)
    .toSorted((one, other) => other.length - one.length)
    .reduce((rest, value) => rest.replaceAll(value, ""), text);
}
