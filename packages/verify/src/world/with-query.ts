/** A path with parameters. */
export function withQuery(path: string, parameters: Readonly<Record<string, unknown>>): string {
  const query = Object.entries(parameters).map(
    ([name, value]) => `${name}=${encodeURIComponent(String(value))}`,
  );
  return query.length === 0 ? path : `${path}?${query.join("&")}`;
}
