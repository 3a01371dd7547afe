import type { HeaderList } from "../transport/transport.ts";

/**
 * Headers of a response: name to list of values. Names are written as `Content-Type` and
 * `X-Request-Id`; looking one up works in any case.
 */
export type ResponseHeaders = Readonly<Record<string, readonly string[]>>;

/** Makes the record of a list of headers, without prototype: no member can be set. */
export function responseHeaders(list: HeaderList): ResponseHeaders {
  const record = Object.create(null) as Record<string, string[]>;
  for (let index = 0; index < list.length; index += 2) {
    const name = canonicalName(list[index] ?? "");
    const value = list[index + 1] ?? "";
    const values = record[name];
    if (values === undefined) record[name] = [value];
    else values.push(value);
  }
  return new Proxy<ResponseHeaders>(record, anyCase);
}

const anyCase: ProxyHandler<ResponseHeaders> = {
  get: (target, key) => (typeof key === "string" ? target[canonicalName(key)] : undefined),
  has: (target, key) => typeof key === "string" && canonicalName(key) in target,
  set: () => false,
  deleteProperty: () => false,
  defineProperty: () => false,
};

/** Values of a header, in the order in which they came. @internal */
export function headerValues(list: HeaderList, wanted: string): readonly string[] {
  const name = wanted.toLowerCase();
  const values: string[] = [];
  for (let index = 0; index < list.length; index += 2) {
    const found = list[index] ?? "";
    if (found.length === name.length && found.toLowerCase() === name) {
      values.push(list[index + 1] ?? "");
    }
  }
  return values;
}

const names = new Map<string, string>();
const maxNames = 500;

/** `content-type` -> `Content-Type`, as Go and most servers write it. */
function canonicalName(name: string): string {
  const found = names.get(name);
  if (found !== undefined) return found;
  const canonical = name.toLowerCase().replace(/(^|-)[a-z]/g, (start) => start.toUpperCase());
  if (names.size >= maxNames) names.clear();
  if (name.length <= 64) names.set(name, canonical);
  return canonical;
}
