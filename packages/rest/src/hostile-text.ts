import { fieldError, type FieldError } from "./field-error.ts";
import { badFields, Problem } from "./problem.ts";
import { isRecord } from "./schema.ts";

/** Characters of a name that a refusal repeats. */
const maxNameLength = 64;

const fault = "contains U+0000 or half of a surrogate pair";

/**
 * Refuses text that no store keeps and that other programs cut or change: U+0000 and lone surrogates, in the values and
 * names of a body.
 *
 * @throws Problem 400 that names the first field that has one.
 */
export function refuseHostileFields(fields: Readonly<Record<string, unknown>>): void {
  const error = hostileIn(fields, "");
  if (error) throw badFields([error]);
}

/**
 * Refuses U+0000 in a URL, also where it is part of a path. Lone surrogates cannot be in one.
 *
 * @throws Problem 400
 */
export function refuseHostileUrl(url: string): void {
  if (!url.includes("%00")) return;
  const mark = url.indexOf("?");
  const query = mark < 0 ? [] : [...new URLSearchParams(url.slice(mark))];
  const parameter = query.find(([name, value]) => isHostile(name) || isHostile(value));
  if (!parameter) throw new Problem(400, { detail: `the path ${fault}` });
  throw badFields([refusal(parameter[0])]);
}

function isHostile(text: string): boolean {
  return text.includes("\0") || !text.isWellFormed();
}

function hostileIn(value: unknown, path: string): FieldError | undefined {
  if (typeof value === "string") return isHostile(value) ? refusal(path) : undefined;
  const entries = Array.isArray(value)
    ? value.entries()
    : isRecord(value)
      ? Object.entries(value)
      : [];
  for (const [name, one] of entries) {
    const inner = path === "" ? String(name) : `${path}.${name}`;
    if (typeof name === "string" && isHostile(name)) return refusal(inner);
    const found = hostileIn(one, inner);
    if (found) return found;
  }
  return undefined;
}

function refusal(path: string): FieldError {
  const shown = path.toWellFormed().replaceAll("\0", "\uFFFD").slice(0, maxNameLength);
  return fieldError(shown, "invalid", `${shown} ${fault}`);
}
