import type { Field } from "./field.ts";
import { literal } from "./source-text.ts";

/** A valid value of a field, as source text; `number` counts from 1. */
export function exampleValue(field: Field): string {
  const { name, type, isList, max = 200, values } = field;
  if (isList) return type === "string" ? "[`Some ${number}`]" : "[number]";
  switch (type) {
    case "string":
    case "text": {
      const text = `Some ${name}`;
      if (text.length + 4 <= max) return `\`${text} \${number}\``;
      return max >= 3 ? "`${number}`" : "String(number % 10)";
    }
    case "number":
      return "number + 0.5";
    case "integer":
      return "number";
    case "boolean":
      return "true";
    case "date":
      return "`2026-01-0${number}`";
    case "datetime":
      return "`2026-01-0${number}T12:00:00Z`";
    case "email":
      return "`ada${number}@example.com`";
    case "url":
      return "`https://example.com/${number}`";
    case "enum":
      return literal(values[0] ?? "");
    case "ref":
    default:
      return "`${number}`";
  }
}

/** A value that a field rejects in JSON, as source text. */
export function invalidValue({ type, isList }: Field): string {
  if (isList) return '"no list"';
  switch (type) {
    case "number":
    case "integer":
      return '"no number"';
    case "boolean":
      return '"perhaps"';
    case "date":
      return '"2026-02-30"';
    case "datetime":
      return '"yesterday"';
    case "email":
      return '"no address"';
    case "url":
      return '"javascript:alert(1)"';
    case "enum":
      return '"none of them"';
    case "string":
    case "text":
    case "ref":
    default:
      return "7";
  }
}
