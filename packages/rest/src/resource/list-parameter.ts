import type { UntypedWhere } from "@fetchwork/documents";
import { RestError } from "../errors.ts";
import { type FieldError, fieldErrorsOf } from "../field-error.ts";
import { type JsonSchema, jsonSchemaOf, scalarOf, type Schema } from "../schema.ts";

/** A custom list parameter, next to filters and the standard ones. */
export interface ListParameter<Value = unknown> {
  /**
   * Schema of the value. A number or a boolean of the schema is converted from its text; a list
   * takes values separated by commas. A value that the schema makes of `undefined`, such as a
   * default, counts as sent; a default also where the text is empty.
   */
  readonly schema: Schema<Value>;
  /** Makes the condition for a value, as a filter of the store; `undefined`: no condition. */
  where(value: Value): UntypedWhere | undefined;
  /** Whether a list without it is refused. Default: `false`. */
  readonly required?: boolean | undefined;
  /** One line for the reference. Default: none. */
  readonly description?: string | undefined;
}

/** Maximum values of a parameter that is a list. */
const maxValues = 100;

/**
 * Types a list parameter by its schema.
 *
 * @example
 * ```ts
 * const since = listParameter({
 *   schema: z.iso.date(),
 *   where: (date) => ({ createdAt: { gte: `${date}T00:00:00.000Z` } }),
 * });
 * ```
 */
export function listParameter<Value>(parameter: ListParameter<Value>): ListParameter {
  return parameter;
}

/** A custom parameter as a list reads it. */
export interface CompiledListParameter {
  readonly name: string;
  readonly schema: JsonSchema;
  readonly description: string;
  readonly required: boolean;
  /** Reads the value; without text, what the schema makes of `undefined`. */
  readonly read: (text: string | undefined) => FoundCondition | readonly FieldError[];
}

/** Condition that a parameter sets for documents, if any. */
export interface FoundCondition {
  readonly where: UntypedWhere | undefined;
}

/** Prepares a custom parameter. */
export function compileListParameter(
  name: string,
  parameter: ListParameter,
): CompiledListParameter {
  const { description = "", required = false, schema } = parameter;
  const described = jsonSchemaOf(schema, "input");
  return {
    name,
    schema: described,
    description,
    required,
    read(text) {
      const isGiven = text !== undefined && (text !== "" || described["default"] === undefined);
      const value = isGiven ? convert(text, described) : undefined;
      const result = schema["~standard"].validate(value);
      if (result instanceof Promise) {
        const message = `the schema of the parameter ${name} is asynchronous, which lists do not wait for`;
        throw new RestError("ERR_REST_DEFINITION", message);
      }
      if (!result.issues) {
        return { where: result.value === undefined ? undefined : parameter.where(result.value) };
      }
      if (text === undefined && !required) return { where: undefined };
      const issues = result.issues.map((issue) => ({ ...issue, path: [name] }));
      return fieldErrorsOf(issues, { [name]: value });
    },
  };
}

function convert(text: string, schema: JsonSchema): unknown {
  const { items, type } = schema;
  if (type === "array") {
    const member = typeof items === "object" && items !== null ? { ...items } : {};
    // One more than allowed is enough for a schema with its limit to refuse the list.
    return text.split(",", maxValues + 1).map((one) => convert(one.trim(), member));
  }
  return scalarOf(text, type);
}
