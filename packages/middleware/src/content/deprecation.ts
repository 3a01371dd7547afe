import type { Middleware } from "@fetchwork/http";
import { changeResult, setDefault } from "@fetchwork/http/responses";
import { checkHeaderValue, checkOptions, optionError } from "../check-options.ts";

/** Options of {@link deprecation}. */
export interface DeprecationOptions {
  /**
   * `draft`: version and date in words, as draft-ietf-httpapi-deprecation-header-02 and the
   * specification have it. `rfc9745`: the date only, as `@1598985120` (RFC 9745, 2.1). Default:
   * `draft`.
   */
  readonly format?: "draft" | "rfc9745" | undefined;
  /** Address of a page about it, sent as `Link` of relation `deprecation`. Default: none. */
  readonly link?: string | undefined;
}

/** Options of {@link sunset}. */
export interface SunsetOptions {
  /** Address of a page about it, as `Link` of `sunset` (RFC 8594, 6). Default: none. */
  readonly link?: string | undefined;
}

/**
 * Announces in a `Deprecation` header that an API should not be used any more, and since when. It
 * still works; see {@link sunset} for when it ends.
 *
 * @example
 * ```ts
 * deprecation("1.0.2", new Date("2020-09-01T18:32:00Z"));
 * // Deprecation: version="1.0.2", date="2020-09-01T18:32:00Z"
 * ```
 * @throws MiddlewareError `ERR_MIDDLEWARE_OPTION` for an invalid date, version or link
 */
export function deprecation(
  version: string,
  date: Date,
  options: DeprecationOptions = {},
): Middleware {
  checkOptions("deprecation", options, ["format", "link"]);
  const { format = "draft", link } = options;
  checkDate(date);
  checkHeaderValue(version, "version");
  if (format !== "draft" && format !== "rfc9745")
    throw optionError("format", format, '"draft" or "rfc9745"');
  const quoted = version.replace(/["\\]/g, String.raw`\$&`);
  const time = date.toISOString().replace(/\.\d+Z$/, "Z");
  const value =
    format === "draft"
      ? `version="${quoted}", date="${time}"`
      : `@${Math.floor(date.getTime() / 1000)}`;
  return announce("deprecation", value, link);
}

/**
 * Announces in a `Sunset` header (RFC 8594) when an API will stop working.
 *
 * @throws MiddlewareError `ERR_MIDDLEWARE_OPTION` for an invalid date or link
 */
export function sunset(date: Date, options: SunsetOptions = {}): Middleware {
  checkOptions("sunset", options, ["link"]);
  checkDate(date);
  return announce("sunset", date.toUTCString(), options.link);
}

function announce(name: string, value: string, link: string | undefined): Middleware {
  if (link !== undefined) checkLink(link);
  const change = (headers: Headers): void => {
    setDefault(headers, name, value);
    if (link !== undefined) headers.append("link", `<${link}>; rel="${name}"; type="text/html"`);
  };
  return (next) => (request, context) => {
    return changeResult(next(request, context), context, change);
  };
}

function checkDate(date: unknown): void {
  if (!(date instanceof Date) || Number.isNaN(date.getTime()))
    throw optionError("date", date, "a valid Date");
  const year = date.getUTCFullYear();
  if (year < 1970 || year > 9999) throw optionError("date", year, "a year from 1970 to 9999");
}

function checkLink(link: string): void {
  checkHeaderValue(link, "link");
  if (link === "" || /[<>"\s]/.test(link)) throw optionError("link", link, "an address");
}
