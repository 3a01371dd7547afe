import { InvalidResponseError, optionError, type ResponseData } from "../errors.ts";

/** Turns a body into a value; an object that it returns is converted to snake case as any other. */
export type BodyParser = (body: string, response: ResponseData) => unknown;

/** A parser, or its name: `json`, `query` (a form), `text`, or of {@link registerParser}. */
export type ParserChoice = BodyParser | (string & {}) | "json" | "query" | "text";

const byName = new Map<string, BodyParser>([
  ["json", parseJson],
  ["query", parseForm],
  ["text", (body) => body],
]);

const nameByType = new Map<string, string>([
  ["application/json", "json"],
  ["text/json", "json"],
  ["text/javascript", "json"],
  ["application/x-www-form-urlencoded", "query"],
]);

/**
 * Adds a parser for all clients of the process, or replaces one.
 *
 * @example
 * ```ts
 * registerParser("csv", ["text/csv"], (body) => body.split("\n").map((line) => line.split(",")));
 * ```
 */
export function registerParser(
  name: string,
  mediaTypes: readonly string[],
  parser: BodyParser,
): void {
  if (typeof parser !== "function") throw optionError("parser", typeof parser, "a function");
  byName.set(name, parser);
  for (const type of mediaTypes) nameByType.set(type.toLowerCase(), name);
}

/**
 * Parses a body by the choice of the caller, else by its media type. A body of another type stays
 * the text that it is. A name that is not registered leaves it to the media type.
 *
 * @throws InvalidResponseError for malformed JSON with a status below 400
 */
export function parseBody(
  response: ResponseData,
  choice: ParserChoice | false | null | undefined,
): unknown {
  const chosen = typeof choice === "string" ? byName.get(choice) : choice;
  const parser = typeof chosen === "function" ? chosen : parserOfType(response.contentType);
  return parser === undefined ? response.body : parser(response.body, response);
}

function parserOfType(type: string): BodyParser | undefined {
  const name = nameByType.get(type) ?? (type.endsWith("+json") ? "json" : undefined);
  return name === undefined ? undefined : byName.get(name);
}

/** Parses JSON without the key `__proto__`, which sets a prototype where the value is copied. */
function parseJson(body: string, response: ResponseData): unknown {
  if (body.trim() === "") return body;
  try {
    return /__proto__|\\u005f/i.test(body) ? JSON.parse(body, withoutProto) : JSON.parse(body);
  } catch {
    // The errors of proxies often are not of the type that they name.
    if (response.status >= 400) return body;
    // Without the parser's error, which quotes the body.
    throw new InvalidResponseError("the body is not JSON, which its type says", { response });
  }
}

function withoutProto(this: unknown, key: string, value: unknown): unknown {
  return key === "__proto__" ? undefined : value;
}

/** Parses a form; repeated keys make lists. Plain brackets; `__proto__` is left out. */
export function parseForm(form: string): Record<string, unknown> {
  const fields = new Map<string, string | string[]>();
  for (const [key, value] of new URLSearchParams(form)) {
    if (key === "__proto__") continue;
    const before = fields.get(key);
    if (before === undefined) fields.set(key, value);
    else if (Array.isArray(before)) before.push(value);
    else fields.set(key, [before, value]);
  }
  return Object.fromEntries(fields);
}
