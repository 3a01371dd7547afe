import { RequestError } from "../errors.ts";
import { parseTimestamp } from "./timestamp.ts";

/** A span of time. */
export interface FromTo {
  /** Its start. */
  readonly from: Date;
  /** Its end; not compared with the start. */
  readonly to: Date;
}

/**
 * Reads the query parameters `from` and `to` of a request as dates: `YYYYMMDD`, `YYYY-MM-DDTHH:MM`,
 * `YYYY-MM-DDTHH:MM:SS` with or without a fraction, and the same with seconds and `Z` or an offset
 * (RFC 3339). Without a zone it is UTC. Digits beyond the millisecond are dropped. A date that no
 * calendar has, and `YYYY-MM-DD` alone, are refused.
 *
 * @throws RequestError `ERR_MIDDLEWARE_DATE` with status 400 and a message such as
 *   `incorrect from time: can't parse date "x"`
 */
export function parseFromTo(source: Request | URL | URLSearchParams): FromTo {
  const query =
    source instanceof URLSearchParams
      ? source
      : source instanceof URL
        ? source.searchParams
        : new URL(source.url).searchParams;
  return { from: read(query, "from"), to: read(query, "to") };
}

function read(query: URLSearchParams, name: "from" | "to"): Date {
  const text = query.get(name) ?? "";
  const time = parseTimestamp(text);
  if (time !== undefined) return time;
  const shown = JSON.stringify(text.length > 64 ? `${text.slice(0, 64)}…` : text);
  throw new RequestError(
    "ERR_MIDDLEWARE_DATE",
    400,
    `incorrect ${name} time: can't parse date ${shown}`,
  );
}
