import { fail } from "./errors.ts";
import { isToken, mergeHeaders } from "./headers.ts";
import { acceptHeader } from "./media-type.ts";
import type { RequestOptions } from "./options.ts";
import { isObject, pick, type PlainObject } from "./own-property.ts";
import type { VendorPreset } from "./preset.ts";
import { appendQuery, type QueryFormat, queryParameter } from "./query.ts";
import { expandUrl, optionNames, readUrl, type UrlTemplate } from "./url-template.ts";

/** Settings that do not change between the requests of one endpoint. */
export interface Settings extends Omit<VendorPreset, "baseUrl">, QueryFormat {
  readonly isStrict: boolean;
}

/** Options that are checked: what is left to do for a request is to place its parameters. */
export interface CheckedOptions {
  /** The method as in the result. */
  readonly method: string;
  readonly isBodiless: boolean;
  readonly template: UrlTemplate;
  /** Without a slash at its end. */
  readonly baseUrl: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly request: unknown;
}

/** Checks everything about merged options but parameters. */
export function checkOptions(options: unknown, settings: Settings): CheckedOptions {
  if (!isObject(options)) fail("ERR_ENDPOINT_OPTION", "the options are not an object");
  const { method = "GET", url, baseUrl = "", mediaType, request } = options;
  if (!isToken(method)) fail("ERR_ENDPOINT_METHOD", "the method is malformed");
  if (typeof baseUrl !== "string" || /[\s?#\\]/.test(baseUrl)) {
    fail("ERR_ENDPOINT_OPTION", "the baseUrl is malformed");
  }
  const headers = mergeHeaders({}, options["headers"] ?? {});
  const { vendor, methodCase } = settings;
  const accept = acceptHeader(headers["accept"] ?? "", mediaType, { url, vendor });
  if (accept) headers["accept"] = accept;
  return {
    method: methodCase === "upper" ? method.toUpperCase() : method.toLowerCase(),
    isBodiless: /^(get|head)$/i.test(method),
    template: readUrl(url),
    baseUrl: baseUrl.replace(/\/$/, ""),
    headers,
    request,
  };
}

/** Places each parameter in the url, the query or the body. Options are not parameters. */
export function placeParameters(
  { method, isBodiless, template, baseUrl, headers: given, request }: CheckedOptions,
  parameters: PlainObject,
  settings: Settings,
): RequestOptions {
  let url = expandUrl(template, parameters, { baseUrl, isStrict: settings.isStrict });
  if (settings.stripSlash && url.length > baseUrl.length + 1) url = url.replace(/\/$/, "");

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
    if (query) url = appendQuery(url, query);
  } else {
    body = parameters["data"];
    if (body === undefined && names.length > 0) body = pick(parameters, names);
  }

  const headers: Record<string, string> = { ...given };
  const result: RequestOptions = { method, url, headers };
  if (body !== undefined) {
    result.body = body;
    if (!headers["content-type"] && isJson(body)) {
      headers["content-type"] = "application/json; charset=utf-8";
    }
  }
  if (request !== undefined) result.request = request;
  return result;
}

/** Whether a body is data, or text made of it: bytes, forms and streams have a tag. */
export function isJson(body: unknown): boolean {
  return !isObject(body) || !(Symbol.toStringTag in body);
}
