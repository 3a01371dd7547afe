import { isObject } from "@fetchwork/kit";
import { nameOfSchema } from "../named-schema.ts";
import { capitalized } from "../operation-name.ts";
import type { Route } from "../plan/route.ts";
import { type JsonSchema, jsonSchemaOf } from "../schema.ts";

/**
 * Whether each name of the schemas of routes surely means one schema. `false` for those that only
 * their description can tell, such as schemas that refer to others. It costs a tenth of describing
 * the routes.
 *
 * @throws RestError `ERR_REST_DEFINITION` for an `response` that has no description.
 */
export function areNamesUnique(routes: readonly Route[]): boolean {
  const owners = new Map<string, object>();
  const seen = new Set<object>();
  return routes.every(({ response, body, bodyReference, operation, responses }) => {
    const sent = bodyReference ?? (body && jsonSchemaOf(body, "input", `the body of ${operation}`));
    const shown = [
      response && jsonSchemaOf(response, "output", `the response of ${operation}`),
      ...Object.values(responses).map(({ schema }) => schema),
    ];
    return (
      (sent === undefined || isUnique(sent, `${capitalized(operation)}Body`)) &&
      shown.every((schema) => isUnique(schema))
    );
  });

  function isUnique(value: unknown, nameOfBody?: string): boolean {
    if (Array.isArray(value)) return value.every((one) => isUnique(one));
    if (!isObject(value)) return true;
    const name = nameOfSchema(value) ?? nameOfBody;
    if (name !== undefined && !isSame(owners.get(name) ?? value, value)) return false;
    if (name !== undefined) owners.set(name, value);
    if (seen.has(value)) return true;
    seen.add(value);
    const { $defs, $ref }: JsonSchema = value;
    if ($defs !== undefined || $ref !== undefined) return false;
    return Object.values(value).every((one) => isUnique(one));
  }
}

function isSame(one: object, other: object): boolean {
  return one === other || textOf(one) === textOf(other);
}

/** Distinguishes schemas by their names too, which no text of JSON has. */
function textOf(schema: object): string {
  return JSON.stringify(schema, (_, value: unknown) => {
    const name = isObject(value) ? nameOfSchema(value) : undefined;
    return name === undefined ? value : [name, { ...Object(value) }];
  });
}
