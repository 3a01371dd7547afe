import { isSecretName } from "./secret-names.ts";
import type { HeaderList } from "./transport.ts";

const mask = "***";

/** A URL for logs: without user information and fragment, and with `***` for the values of secret parameters. */
export function maskUrl(url: URL): string {
  return url.origin + url.pathname + maskQuery(url.search);
}

/** A query, or a form, with `***` for the values of secret parameters. */
export function maskQuery(query: string): string {
  if (!query.includes("=")) return query;
  return query
    .split(/([&;?])/)
    .map((pair) => {
      const equals = pair.indexOf("=");
      const name = pair.slice(0, equals);
      return equals !== -1 && isSecretName(decode(name)) ? `${name}=${mask}` : pair;
    })
    .join("");
}

/** Headers for logs: name in lower case to its values, with `***` for secret ones. */
export function maskHeaders(
  list: HeaderList,
  isMasked: (name: string) => boolean,
): Readonly<Record<string, string>> {
  const record = Object.create(null) as Record<string, string>;
  for (let index = 0; index < list.length; index += 2) {
    const name = (list[index] ?? "").toLowerCase();
    const value = list[index + 1] ?? "";
    const shown = isSecretName(name) || isMasked(name) ? mask : maskUrls(value);
    record[name] = name in record ? `${record[name]}, ${shown}` : shown;
  }
  return record;
}

/** `Location`, `Link` and `Referer` have URLs in them. */
function maskUrls(value: string): string {
  const plain = value.includes("@") ? value.replace(/\/\/[^/?#\s]*@/g, `//${mask}@`) : value;
  return plain.includes("?") || plain.includes("#") ? maskQuery(plain.replaceAll("#", "&")) : plain;
}

/** The value of a JSON text with `***` for secret fields. */
export function maskJson(text: string): string {
  return JSON.stringify(JSON.parse(text), (name, value: unknown) =>
    isSecretName(name) && value !== null ? mask : value,
  );
}

function decode(name: string): string {
  try {
    return decodeURIComponent(name.replaceAll("+", " "));
  } catch {
    return name;
  }
}
