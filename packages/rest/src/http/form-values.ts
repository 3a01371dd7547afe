import { isObject } from "@fetchwork/kit";
import { bareFields } from "../bare-fields.ts";
import { fieldError } from "../field-error.ts";
import { badFields } from "../problem.ts";
import { type JsonSchema, scalarOf } from "../schema.ts";

/** Converts the texts of a form to the types that the schema's properties name. */
export function convertForm(
  fields: Readonly<Record<string, unknown>>,
  properties: Readonly<Record<string, JsonSchema>>,
): Readonly<Record<string, unknown>> {
  const converted = bareFields();
  for (const [name, value] of Object.entries(fields)) {
    const schema = Object.hasOwn(properties, name) ? properties[name] : undefined;
    converted[name] = schema ? convert(name, value, withoutNull(schema)) : value;
  }
  return converted;
}

/** A form has no `null`, so the alternative to it is what counts. */
function withoutNull(schema: JsonSchema): JsonSchema {
  const alternatives = Array.isArray(schema["anyOf"]) ? schema["anyOf"].filter(isObject) : [];
  return alternatives.find(({ type }) => type !== "null") ?? schema;
}

function convert(name: string, value: unknown, schema: JsonSchema): unknown {
  const type = schema["type"];
  if (type === "array") {
    const members = isObject(schema["items"]) ? withoutNull(schema["items"]) : {};
    return [value].flat().map((one) => convert(name, one, members));
  }
  if (Array.isArray(value)) {
    throw badFields([fieldError(name, "once", `${name} must be given once`)]);
  }
  return typeof value === "string" ? scalarOf(value, type) : value;
}
