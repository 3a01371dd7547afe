/**
 * Sends JSON, and resolves to what the response has.
 *
 * @throws Error for a status of 400 or more, with the response.
 */
export async function requestJson(
  url: string,
  {
    body,
    headers = {},
    method,
  }: { body?: unknown; headers?: Readonly<Record<string, string>>; method?: string } = {},
): Promise<Json> {
  const response = await fetch(url, {
    method: method ?? (body === undefined ? "GET" : "POST"),
    headers: { ...headers, ...(body === undefined ? {} : { "content-type": "application/json" }) },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
  const text = await response.text();
  if (response.ok) return (text === "" ? {} : JSON.parse(text)) as Json;
  throw new Error(`${method ?? ""} ${url}: status ${response.status}: ${text.slice(0, 500)}`);
}

/** As {@link requestJson}; `undefined` for every refusal. */
export function readJson(
  url: string,
  headers: Readonly<Record<string, string>>,
): Promise<Json | undefined> {
  return requestJson(url, { headers }).catch(() => undefined);
}

/** An object of JSON. */
export type Json = Readonly<Record<string, unknown>>;

/** Looks up what stands at a path of an object of JSON: `user.id`. */
export function at(json: unknown, path: string): unknown {
  return path
    .split(".")
    .reduce<unknown>((value, name) => (value as Json | undefined)?.[name], json);
}
