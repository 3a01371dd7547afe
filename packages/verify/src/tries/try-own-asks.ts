import type { Fields, Route } from "@fetchwork/rest";
import type { ShownRequest } from "../finding.ts";
import type { Caller } from "../caller.ts";
import { withQuery } from "../world/with-query.ts";
import { scan, type Trial } from "./trial.ts";
import { type Hidden, hiddenFrom, neighbours, type Pair, tellsOrder, tryPair } from "./try-asks.ts";

/** A route of one's own with the path and the parameters that it needs. */
export interface Place {
  readonly route: Route;
  readonly path: string;
  readonly query: Readonly<Record<string, unknown>>;
  /** Fields of the body that it declares. */
  readonly declared: Fields | undefined;
}

/** Asks a route of one's own for every hidden value: by its parameters, its path and its body. */
export async function tryOwnAsks(trial: Trial, caller: Caller, place: Place): Promise<void> {
  const { path, query: needed, route } = place;
  const { method, operation: way, query = [] } = route;
  for (const resource of trial.world.service.resources) {
    const all = hiddenFrom(trial, caller, resource);
    for (const hidden of all) {
      for (const pair of pairsFor(place, hidden)) {
        scan(trial, caller, await tryPair(trial, caller, hidden, pair), way);
      }
    }
    if (method !== "GET") continue;
    const fields = new Map(all.map((hidden) => [hidden.field, hidden]));
    for (const { name } of query) {
      for (const [field, hidden] of fields) {
        const one = { method, path: withQuery(path, { ...needed, [name]: field }) };
        const other = { method, path: withQuery(path, { ...needed, [name]: `-${field}` }) };
        const pair = { way, one, other, tells: tellsOrder };
        scan(trial, caller, await tryPair(trial, caller, hidden, pair), way);
      }
    }
  }
}

/** Requests that differ in a value only. */
function pairsFor(place: Place, { field, value }: Hidden): readonly Pair[] {
  const { declared, path, query, route } = place;
  const { method, operation: way } = route;
  const { above, another } = neighbours(value);
  const other = typeof value === "number" ? above : another;
  const pair = (make: (given: unknown) => ShownRequest): Pair => ({
    way,
    one: make(value),
    other: make(other),
  });
  const pairWithBody = (more: (given: unknown) => Fields): Pair =>
    pair((given) => ({ method, path, body: { ...declared, ...more(given) } }));
  if (method === "GET") {
    const parameters = (route.query ?? []).flatMap(({ name }) => {
      const pairWith = (text: (given: unknown) => string): Pair =>
        pair((given) => ({ method, path: withQuery(path, { ...query, [name]: text(given) }) }));
      return [pairWith(String), pairWith((given) => JSON.stringify({ [field]: given }))];
    });
    if (!route.path.split("/").includes(`:${field}`)) return parameters;
    const filled = (given: unknown): string =>
      route.path.replace(`:${field}`, encodeURIComponent(String(given)));
    return [...parameters, pair((given) => ({ method, path: filled(given) }))];
  }
  const names = declared === undefined ? [field] : Object.keys(declared);
  const alike = names.filter((name) => !declared || typeof declared[name] === typeof value);
  const bodies = alike.map((name) => pairWithBody((given) => ({ [name]: given })));
  if (method !== "QUERY") return bodies;
  return [...bodies, pairWithBody((given) => ({ where: { [field]: given } }))];
}
