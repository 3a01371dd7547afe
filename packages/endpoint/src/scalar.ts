import { fail } from "./errors.ts";
import { isObject } from "./own-property.ts";

/** A value with one text: `Date`, `URL` and the like stand for what their `toJSON` returns. */
export type Scalar = string | number | bigint | boolean | { toJSON(): string };

const scalarTypes: ReadonlySet<string> = new Set(["string", "number", "bigint", "boolean"]);

/** Returns the text of a scalar; otherwise the error names the variable, not its value. */
export function scalarText(value: unknown, name: string): string {
  if (typeof value === "string") return value;
  const plain = hasJson(value) ? value.toJSON() : value;
  if (scalarTypes.has(typeof plain)) return String(plain);
  const found = isObject(value) ? "an object" : `a ${typeof value}`;
  return fail("ERR_ENDPOINT_VALUE", `"${name}" must be text, got ${found}`);
}

function hasJson(value: unknown): value is { toJSON(): unknown } {
  return isObject(value) && typeof value["toJSON"] === "function";
}
