import { checkChoice, checkNames } from "../check-names.ts";
import { fail } from "../errors.ts";
import { expandExpression, operatorOf, writeVariable } from "../expression.ts";
import { mergeHeaders } from "../headers.ts";
import { isObject, isPlainObject, type PlainObject } from "../own-property.ts";
import { isJson } from "../parse-options.ts";
import { encodeUnreserved } from "../percent-encoding.ts";
import { appendQuery, queryParameter } from "../query.ts";
import { scalarText } from "../scalar.ts";
import { dotSegment } from "../url-template.ts";
import { isJsonType } from "./media-types.ts";
import type { BodyReaders, QuerySerializer, TypedCallOptions } from "./operation.ts";
import type { ReadOptions } from "./read-response.ts";

/** Defaults that all calls of one caller share. */
export interface CallDefaults {
  readonly baseUrl: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly querySerializer: QuerySerializer | undefined;
}

/** A call, ready to be sent, and how its response is read. */
export interface BuiltCall extends ReadOptions {
  readonly url: string;
  readonly init: RequestInit;
}

interface GivenOptions extends TypedCallOptions<unknown, keyof BodyReaders> {
  readonly params?: PlainObject;
  readonly body?: unknown;
}

const readers = ["json", "text", "blob", "arrayBuffer", "stream"];

/** Puts the parameters of a call into its URL, headers and body. */
export function buildCall(
  defaults: CallDefaults,
  [method, path]: readonly [string, string],
  options: unknown,
): BuiltCall {
  if (!isObject(options)) fail("ERR_ENDPOINT_OPTION", "the options of a call are not an object");
  const {
    params = {},
    body,
    headers = {},
    querySerializer = defaults.querySerializer ?? writeQuery,
    schema,
    parseAs,
    ...rest
  }: GivenOptions = options;
  checkNames("params", params, ["path", "query", "header", "cookie"]);
  if (parseAs !== undefined) checkChoice("parseAs", parseAs, readers);
  const query = querySerializer(groupOf(params, "query"));
  const expanded = expandPath(path, groupOf(params, "path"));
  const url = defaults.baseUrl + (query === "" ? expanded : appendQuery(expanded, query));

  const merged = mergeHeaders(
    mergeHeaders(defaults.headers, headers),
    headerTexts(groupOf(params, "header")),
  );
  const cookies = [merged["cookie"], ...cookiePairs(groupOf(params, "cookie"))];
  const cookie = cookies.filter((pair) => pair !== undefined).join("; ");
  if (cookie !== "") merged["cookie"] = cookie;
  const sent = bodyToSend(body, merged);
  // The Fetch standard asks for `duplex` where a body is a stream.
  const init = { ...rest, method, headers: merged, ...(sent && { body: sent, duplex: "half" }) };
  return { url, init, schema, parseAs };
}

/** The parameters of one place. */
function groupOf(params: PlainObject, name: string): PlainObject {
  const group = params[name] ?? {};
  if (!isObject(group)) fail("ERR_ENDPOINT_OPTION", `params.${name} is not an object`);
  return group;
}

const simple = /* @__PURE__ */ operatorOf("");

/**
 * Fills `{name}` in the path of a description. These are not URI templates: a name may have a
 * hyphen, and colons are text. A value is written as by `{name}` of RFC 6570, which is the default
 * style of OpenAPI.
 */
function expandPath(path: string, values: PlainObject): string {
  // Without the slash, `.evil.example` would continue the host of the base; two are followed by a
  // host.
  if (!/^\/(?!\/)/.test(path)) fail("ERR_ENDPOINT_TEMPLATE", "a path must begin with one slash");
  const expanded = path.replace(/\{([^{}]+)\}/g, (_, name: string, position: number) => {
    const variables = [{ name, isExploded: false, prefix: 0 }];
    const expression = { operator: simple, variables, position, isPath: true };
    return expandExpression(expression, values, true) ?? "";
  });
  if (dotSegment.test(expanded)) fail("ERR_ENDPOINT_PATH", "a value would change the path");
  return expanded;
}

/** `form` for texts and lists, both exploded; `deepObject` for objects. */
function writeQuery(query: PlainObject): string {
  return Object.entries(query)
    .flatMap(([name, value]) =>
      isPlainObject(value)
        ? Object.entries(value).map(([key, member]) => [`${name}[${key}]`, member] as const)
        : [[name, value] as const],
    )
    .flatMap(([name, value]) =>
      value === undefined ? [] : (queryParameter(name, value, { arrayFormat: "repeat" }) ?? []),
    )
    .join("&");
}

/** Values in the `simple` style, not encoded. */
function headerTexts(values: PlainObject): Record<string, string | undefined> {
  const operator = { ...simple, encode: (text: string) => text };
  return Object.fromEntries(
    Object.entries(values).map(([name, value]) => [
      name,
      writeVariable(operator, { name, isExploded: false, prefix: 0 }, value),
    ]),
  );
}

function cookiePairs(values: PlainObject): readonly string[] {
  return Object.entries(values)
    .filter(([, value]) => value !== undefined && value !== null)
    .map(
      ([name, value]) => `${encodeUnreserved(name)}=${encodeUnreserved(scalarText(value, name))}`,
    );
}

/** Data as JSON, anything else as it is; completes the headers. */
function bodyToSend(body: unknown, headers: Record<string, string>): BodyInit | undefined {
  if (body === undefined) return undefined;
  const type = headers["content-type"];
  // Bytes, forms and streams are a `BodyInit`, and so is the text of another media type.
  if (!isJson(body)) return body as BodyInit;
  if (type !== undefined && !isJsonType(type)) {
    return typeof body === "string"
      ? body
      : fail("ERR_ENDPOINT_VALUE", "the body has a content-type that is not JSON, expected text");
  }
  headers["content-type"] ??= "application/json";
  try {
    return JSON.stringify(body);
  } catch (cause) {
    return fail("ERR_ENDPOINT_REQUEST", "the body has no JSON", { cause });
  }
}
