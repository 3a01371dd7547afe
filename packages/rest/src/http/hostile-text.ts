import { isObject } from "@fetchwork/kit";
import { fieldError, type FieldError } from "../field-error.ts";
import { badFields, Problem } from "../problem.ts";

/** Characters of a name that a refusal repeats. */
const maxNameLength = 64;

const fault = "contains U+0000 or half of a surrogate pair";

/**
 * Refuses text that no store keeps and that other programs cut or change: U+0000 and lone
 * surrogates, in the values and names of a body.
 *
 * @throws Problem 400 that names the first field that has one.
 */
export function refuseHostileFields(fields: Readonly<Record<string, unknown>>): void {
  const error = hostileIn(fields);
  if (error) throw badFields([error]);
}

/** U+0000 and surrogates in a URL; no other UTF-8 has these bytes (RFC 3629, 3, 4). */
const hostileEncoded = /%(?:00|ed%[ab])/i;

/**
 * Refuses the same text in a URL: in its path, and in the names and values of its query.
 *
 * @throws Problem 400
 */
export function refuseHostileUrl(url: string): void {
  if (!hostileEncoded.test(url)) return;
  const mark = url.indexOf("?");
  const query = mark < 0 ? "" : url.slice(mark + 1);
  const parameter = query.split("&").find((pair) => hostileEncoded.test(pair));
  if (parameter === undefined) throw new Problem(400, { detail: `the path ${fault}` });
  const [name = ""] = new URLSearchParams(parameter).keys();
  throw badFields([refusal(name)]);
}

function isHostile(text: string): boolean {
  return text.includes("\0") || !text.isWellFormed();
}

/** Finds the first text, by depth; without recursion, since a body may be nested without end. */
function hostileIn(fields: Readonly<Record<string, unknown>>): FieldError | undefined {
  const waiting: (readonly [path: string, value: unknown])[] = [["", fields]];
  for (const [path, value] of waiting) {
    if (typeof value === "string" && isHostile(value)) return refusal(path);
    const entries = Array.isArray(value)
      ? value.entries()
      : isObject(value)
        ? Object.entries(value)
        : [];
    for (const [name, one] of entries) {
      const inner = path === "" ? String(name) : `${path}.${name}`;
      if (typeof name === "string" && isHostile(name)) return refusal(inner);
      waiting.push([inner, one]);
    }
  }
  return undefined;
}

function refusal(path: string): FieldError {
  const shown = path.toWellFormed().replaceAll("\0", "\uFFFD").slice(0, maxNameLength);
  return fieldError(shown, "invalid", `${shown} ${fault}`);
}
