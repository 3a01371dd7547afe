import { InvalidResponseError, type ResponseData } from "../errors.ts";

/** Turns a body into a value; an object that it returns is converted to snake case as any other. */
export type BodyParser = (body: string, response: ResponseData) => unknown;

/** A parser, or its name: `json`, `query` (a form) or `text`. */
export type ParserChoice = BodyParser | (string & {}) | "json" | "query" | "text";

const byName: ReadonlyMap<string, BodyParser> = new Map<string, BodyParser>([
  ["json", parseJson],
  ["query", parseForm],
  ["text", (body) => body],
]);

const jsonTypes: readonly string[] = ["application/json", "text/json", "text/javascript"];

/**
 * Parses a body by the choice of the caller, else by its media type. A body of another type stays
 * the text that it is. Another name leaves it to the media type.
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
  if (type === "application/x-www-form-urlencoded") return parseForm;
  return jsonTypes.includes(type) || type.endsWith("+json") ? parseJson : undefined;
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
