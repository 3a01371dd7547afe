import type { Fields, Resource } from "@fetchwork/rest";

/** Parameters of a list, the standard ones under the names that the list has for them. */
export function renamed({ list }: Resource, parameters: Fields): Fields {
  const names = new Map<string, string | false>(Object.entries(list.names ?? {}));
  return Object.fromEntries(
    Object.entries(parameters).map(([name, value]) => [names.get(name) || name, value]),
  );
}

/** A path with parameters. */
export function withQuery(path: string, parameters: Readonly<Record<string, unknown>>): string {
  const query = Object.entries(parameters).map(
    ([name, value]) => `${name}=${encodeURIComponent(String(value))}`,
  );
  return query.length === 0 ? path : `${path}?${query.join("&")}`;
}
