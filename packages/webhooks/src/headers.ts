/** Reads the value of a header by its lower-case name. `Headers` is one. */
export interface HeaderReader {
  get(name: string): string | null;
}

/** Headers as Node has them, or as a plain object. Names are case-insensitive. */
export type HeaderRecord = Readonly<Record<string, string | readonly string[] | undefined>>;

/** Returns the value of a header; `""` when it is absent. */
export function headerOf(headers: HeaderReader, name: string): string {
  return headers.get(name) ?? "";
}

/** Reads a record whose names are in lower case, as those of Node's requests are. */
export function readNodeHeaders(record: HeaderRecord): HeaderReader {
  return {
    get: (name) => {
      const value = Object.hasOwn(record, name) ? record[name] : undefined;
      return typeof value === "string" ? value : (value?.join(", ") ?? null);
    },
  };
}

/** Reads headers of any form. */
export function readHeaders(headers: HeaderReader | HeaderRecord): HeaderReader {
  if (isReader(headers)) return headers;
  // Without a prototype, because a header may have any name.
  const record = Object.create(null) as Record<string, string | readonly string[] | undefined>;
  for (const [name, value] of Object.entries(headers)) record[name.toLowerCase()] = value;
  return readNodeHeaders(record);
}

function isReader(headers: HeaderReader | HeaderRecord): headers is HeaderReader {
  return "get" in headers && typeof headers.get === "function";
}
