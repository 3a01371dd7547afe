import { fail } from "./errors.ts";
import { isObject } from "./own-property.ts";

/** A value with one text: `Date`, `URL` and the like stand for what their `toJSON` returns. */
export type Scalar = string | number | bigint | boolean | { toJSON(): string };

/** Returns the text of a scalar; everything else is an error that names the variable or parameter, not its value. */
export function scalarText(value: unknown, name: string): string {
  if (typeof value === "string") return value;
  const plain = hasJson(value) ? value.toJSON() : value;
  switch (typeof plain) {
    case "string":
    case "number":
    case "bigint":
    case "boolean":
      return String(plain);
    default:
      return fail("ERR_ENDPOINT_VALUE", `"${name}" is of type ${typeof value}, expected text`);
  }
}

function hasJson(value: unknown): value is { toJSON(): unknown } {
  return isObject(value) && typeof value["toJSON"] === "function";
}
