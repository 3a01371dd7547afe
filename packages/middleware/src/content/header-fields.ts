import { checkHeaderName, checkHeaderValue, optionError } from "../check-options.ts";

/** Headers as `"name:value"`, or as an object of names and values. */
export type HeaderFields = string | Readonly<Record<string, string>>;

/**
 * Reads and checks header fields; names in lower case, values without white space around them. A
 * value may contain colons.
 *
 * @throws MiddlewareError `ERR_MIDDLEWARE_OPTION`
 */
export function readHeaderFields(fields: readonly HeaderFields[]): [string, string][] {
  return fields.flatMap((field) => {
    if (typeof field === "string") return [splitField(field)];
    if (typeof field !== "object" || field === null || Array.isArray(field))
      throw optionError("header", field, "text such as `name:value`, or an object");
    return Object.entries(field).map(([name, value]) => checkField(name, value));
  });
}

function splitField(field: string): [string, string] {
  const colon = field.indexOf(":");
  if (colon === -1) throw optionError("header", field, "text such as `name:value`");
  return checkField(field.slice(0, colon).trim(), field.slice(colon + 1));
}

function checkField(name: string, value: string): [string, string] {
  checkHeaderName(name, "header");
  checkHeaderValue(value, `header ${name}`);
  return [name.toLowerCase(), value.trim()];
}
