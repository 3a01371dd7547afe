import type { HeaderReader } from "./schemes/signature-scheme.ts";

/** Headers as Node has them, or as a plain object. Names count without regard to case. */
export type HeaderRecord = Readonly<Record<string, string | readonly string[] | undefined>>;

/** Reads headers whose names are in lower case already. */
export function readLowerCase(record: HeaderRecord): HeaderReader {
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
  const record = Object.create(null) as Record<string, string | readonly string[] | undefined>;
  for (const [name, value] of Object.entries(headers)) record[name.toLowerCase()] = value;
  return readLowerCase(record);
}

function isReader(headers: HeaderReader | HeaderRecord): headers is HeaderReader {
  return "get" in headers && typeof headers.get === "function";
}
