import { fail } from "./errors.ts";
import { isToken, mergeHeaders } from "./headers.ts";
import { acceptHeader } from "./media-type.ts";
import type { RequestOptions } from "./options.ts";
import { isObject } from "./own-property.ts";
import type { VendorPreset } from "./preset.ts";
import { appendQuery, type QueryFormat, queryParameter } from "./query.ts";
import { expandUrl, optionNames, readUrl } from "./url-template.ts";

/** What does not change between the requests of one endpoint. */
export interface Settings extends Omit<VendorPreset, "baseUrl">, QueryFormat {
  readonly isStrict: boolean;
  /** Headers that need no second look. */
  readonly checkedHeaders?: Readonly<Record<string, string>>;
}

/**
 * Checks merged options, and places each parameter in the url, the query or the body.
 *
 * @param parameters Where parameters are, when they are not among the options.
 */
export function parseOptions(
  options: unknown,
  settings: Settings,
  parameters: unknown = options,
): RequestOptions {
  if (!isObject(options) || !isObject(parameters)) {
    fail("ERR_ENDPOINT_OPTION", "The options are not an object");
  }
  const { method = "GET", url, baseUrl: base = "", mediaType, request } = options;
  if (!isToken(method)) fail("ERR_ENDPOINT_METHOD", "The method is malformed");
  if (typeof base !== "string" || /[\s?#\\]/.test(base)) {
    fail("ERR_ENDPOINT_OPTION", "The baseUrl is malformed");
  }
  const baseUrl = base.endsWith("/") ? base.slice(0, -1) : base;
  const template = readUrl(url);
  const lower = method.toLowerCase();
  const isBodiless = /^(?:get|head)$/.test(lower);

  let address = expandUrl(template, parameters, { baseUrl, isStrict: settings.isStrict });
  if (settings.stripSlash && address.length > baseUrl.length + 1) {
    address = address.replace(/\/$/, "");
  }
  let body: unknown = isBodiless ? undefined : parameters["data"];
  if (body === undefined) {
    let rest: Record<string, unknown> = {};
    let query = "";
    for (const key of Object.keys(parameters)) {
      const value = parameters[key];
      if (value === undefined || template.names.includes(key) || optionNames.includes(key))
        continue;
      if (isBodiless) {
        const text = queryParameter(key, value, settings);
        if (text !== undefined) query += query === "" ? text : `&${text}`;
      } else {
        // An assignment would take `__proto__` for the prototype.
        if (key === "__proto__") rest = { ...rest, [key]: value };
        else rest[key] = value;
        body = rest;
      }
    }
    if (query !== "") address = appendQuery(address, query);
  }

  const { headers: given } = options;
  const headers =
    given === settings.checkedHeaders
      ? { ...settings.checkedHeaders }
      : mergeHeaders({}, given ?? {});
  const { accept = "" } = headers;
  const amended = acceptHeader(accept, mediaType, { url: template.head, vendor: settings.vendor });
  if (amended !== accept) headers["accept"] = amended;
  if (body === undefined) {
    if (settings.emptyBody && /^(?:put|patch)$/.test(lower)) body = "";
  } else if (!headers["content-type"] && isJson(body)) {
    headers["content-type"] = "application/json; charset=utf-8";
  }

  const result: RequestOptions = {
    method: settings.methodCase === "upper" ? method.toUpperCase() : lower,
    url: address,
    headers,
  };
  if (body !== undefined) result.body = body;
  if (request !== undefined) result.request = request;
  return result;
}

/** Whether a body is data, or text that somebody made of it: bytes, forms and streams have a tag. */
export function isJson(body: unknown): boolean {
  return !isObject(body) || !(Symbol.toStringTag in body);
}
