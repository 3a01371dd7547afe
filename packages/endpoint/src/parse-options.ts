import { fail } from "./errors.ts";
import { isToken, mergeHeaders } from "./headers.ts";
import { acceptHeader } from "./media-type.ts";
import type { RequestOptions } from "./options.ts";
import { isObject, pick, type PlainObject } from "./own-property.ts";
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
 * @param given Where parameters are, when they are not among the options.
 */
export function parseOptions(
  options: unknown,
  settings: Settings,
  given?: PlainObject,
): RequestOptions {
  if (!isObject(options)) fail("ERR_ENDPOINT_OPTION", "The options are not an object");
  const parameters = given ?? options;
  const { method = "GET", url, baseUrl: base = "", request } = options;
  if (!isToken(method)) fail("ERR_ENDPOINT_METHOD", "The method is malformed");
  if (typeof base !== "string" || /[\s?#\\]/.test(base)) {
    fail("ERR_ENDPOINT_OPTION", "The baseUrl is malformed");
  }
  const baseUrl = base.endsWith("/") ? base.slice(0, -1) : base;
  const template = readUrl(url);
  const lower = method.toLowerCase();
  const isBodiless = /^(get|head)$/.test(lower);

  let address = expandUrl(template, parameters, { baseUrl, isStrict: settings.isStrict });
  if (settings.stripSlash && address.length > baseUrl.length + 1) {
    address = address.replace(/\/$/, "");
  }
  const names = Object.keys(parameters).filter(
    (name) =>
      parameters[name] !== undefined && !template.names.includes(name) && !optionNames.has(name),
  );
  let body: unknown;
  if (isBodiless) {
    let query = "";
    for (const name of names) {
      const text = queryParameter(name, parameters[name], settings);
      if (text !== undefined) query += (query && "&") + text;
    }
    if (query) address = appendQuery(address, query);
  } else {
    body = parameters["data"];
    if (body === undefined && names.length > 0) body = pick(parameters, names);
  }

  const result: RequestOptions = {
    method: settings.methodCase === "upper" ? method.toUpperCase() : lower,
    url: address,
    headers: headersOf(options, body, settings),
  };
  if (body !== undefined) result.body = body;
  if (request !== undefined) result.request = request;
  return result;
}

function headersOf(
  { url, headers, mediaType }: PlainObject,
  body: unknown,
  { checkedHeaders, vendor }: Settings,
): Record<string, string> {
  const result =
    headers === checkedHeaders ? { ...checkedHeaders } : mergeHeaders({}, headers ?? {});
  const accept = acceptHeader(result["accept"] ?? "", mediaType, { url, vendor });
  if (accept) result["accept"] = accept;
  if (body !== undefined && !result["content-type"] && isJson(body)) {
    result["content-type"] = "application/json; charset=utf-8";
  }
  return result;
}

/** Whether a body is data, or text that somebody made of it: bytes, forms and streams have a tag. */
export function isJson(body: unknown): boolean {
  return !isObject(body) || !(Symbol.toStringTag in body);
}
