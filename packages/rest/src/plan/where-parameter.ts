import type { UntypedWhere } from "@fetchwork/documents";
import { isObject } from "@fetchwork/kit";
import { fieldError, type FieldError } from "../field-error.ts";
import type { FilterField } from "../resource/filter-field.ts";
import {
  describeType,
  type FilterScalar,
  type FilterType,
  filterValue,
  ruleOf,
} from "../resource/filter-value.ts";
import {
  type FilterCondition,
  type FilterOperator,
  maxFilters,
  maxFilterValues,
  operatorsOf,
  whereExists,
  whereOneOf,
} from "./filter-parameters.ts";

/** Longest text of the parameter, in characters. */
export const maxWhereLength = 4_096;

/** Levels of `and`, `or` and `not`. */
const maxDepth = 5;

/** Characters of a name that the path of a refusal repeats. */
const maxKeyLength = 64;

/** Reads a filter; a {@link FieldError} when it is wrong. */
export interface WhereReader {
  /**
   * Reads the text of the parameter.
   *
   * @param maxLength - Longest text, in characters. Default: {@link maxWhereLength}.
   */
  text(text: string, maxLength?: number): FieldError | FilterCondition;
  /** Reads the member of a body; an error has the path of the fault, such as `where.or.0.stars`. */
  value(given: unknown): FieldError | FilterCondition;
}

/**
 * Makes the function that reads `where`: a filter as JSON, with the fields and the operators of the
 * other filters, and with `and`, `or` and `not`, as in
 * `{"or":[{"state":"open"},{"stars":{"gte":3}}]}`.
 */
export function whereReader(fields: readonly FilterField[]): WhereReader {
  const types = new Map(fields.map(({ path, type }) => [path, type]));

  return {
    text(text, maxLength = maxWhereLength) {
      if (text.length > maxLength) {
        const message = `where must have length lower than or equal to ${maxLength}`;
        return fieldError("where", "maxlength", message);
      }
      let given: unknown;
      try {
        given = JSON.parse(text);
      } catch {
        return fieldError("where", "type", "where must be JSON");
      }
      const found = read(given);
      return "where" in found ? found : { ...found, param: "where" };
    },
    value: read,
  };

  function read(given: unknown): FieldError | FilterCondition {
    let left = maxFilters;
    /** Where in the filter the reading is, for the error. */
    const at: string[] = [];
    try {
      return { where: readAll(given, 1) };
    } catch (error) {
      if (!(error instanceof Refused)) throw error;
      return { ...error.reason, param: ["where", ...at].join(".") };
    }

    /** An error leaves the path as it is. */
    function inside<R>(key: string | number, work: () => R): R {
      at.push(String(key).slice(0, maxKeyLength));
      const result = work();
      at.pop();
      return result;
    }

    function readAll(value: unknown, depth: number): UntypedWhere {
      if (!isObject(value)) throw refused("type", "must be made of objects");
      if (depth > maxDepth) throw refused("maxlength", `must have at most ${maxDepth} levels`);
      const conditions = Object.entries(value).map(([key, one]) =>
        inside(key, () => readOne(key, one, depth)),
      );
      const [first] = conditions;
      if (first === undefined) throw refused("invalid", "must not have empty objects");
      return conditions.length === 1 ? first : { and: conditions };
    }

    function readOne(key: string, value: unknown, depth: number): UntypedWhere {
      if (key === "not") return { not: readAll(value, depth + 1) };
      if (key === "and" || key === "or") {
        if (!Array.isArray(value) || value.length === 0) {
          throw refused("type", `must have a list of objects as ${key}`);
        }
        const some = value.map((one, index) => inside(index, () => readAll(one, depth + 1)));
        return key === "or" ? { or: some } : { and: some };
      }
      const type = types.get(key);
      if (type === undefined) {
        const known = ["and", "or", "not", ...types.keys()].join(", ");
        throw refused("enum", `must have only these fields: ${known}`);
      }
      const operator = type.isList ? "contains" : "eq";
      const compared = isObject(value) ? Object.entries(value) : [[operator, value] as const];
      if (compared.length === 0) throw refused("invalid", "must not have empty objects");
      const conditions = compared.map(([operator, one]) =>
        compare({ path: key, type, operator }, one),
      );
      return conditions.length === 1 && conditions[0] ? conditions[0] : { and: conditions };
    }

    function compare({ path, type, operator: asked }: Comparison, value: unknown): UntypedWhere {
      left -= 1;
      if (left < 0) throw refused("maxlength", `must have at most ${maxFilters} conditions`);
      const operator = operatorsOf(type).find((known) => known === asked);
      if (operator === undefined) {
        const known = operatorsOf(type).join(", ");
        throw refused("enum", `must compare ${path} by one of: ${known}`);
      }
      if (operator === "exists") {
        if (typeof value !== "boolean")
          throw refused("type", `must have true or false as exists of ${path}`);
        return whereExists(path, value);
      }
      if (operator === "in" || operator === "nin") {
        if (!Array.isArray(value) || value.length > maxFilterValues) {
          throw refused(
            "type",
            `must have a list of at most ${maxFilterValues} values as ${operator} of ${path}`,
          );
        }
        const values = value.map((one) => scalar({ path, type }, one));
        return whereOneOf({ path, type, operator }, values);
      }
      if (value === null && (operator === "eq" || operator === "ne")) {
        return whereExists(path, operator === "ne");
      }
      return { [path]: { [operator]: scalar({ path, type }, value) } };
    }
  }
}

function scalar({ path, type }: Omit<Comparison, "operator">, value: unknown): FilterScalar {
  // Objects may have a text that throws.
  const isFit =
    isObject(value) || Array.isArray(value)
      ? false
      : type.values
        ? type.values.get(String(value)) === value
        : typeof value === typeOf(type);
  const text = isFit ? String(value) : "";
  if (text.includes("\0") || !text.isWellFormed()) {
    throw refused("invalid", `has a value of ${path} that is not kept`);
  }
  const found = isFit ? filterValue(text, type) : undefined;
  if (found === undefined) {
    throw refused(ruleOf(type), `has a value of ${path} that ${describeType(type)}`);
  }
  return found;
}

function refused(rule: string, message: string): Refused {
  return new Refused(fieldError("where", rule, `where ${message}`));
}

interface Comparison {
  readonly path: string;
  readonly type: FilterType;
  readonly operator: FilterOperator | (string & {});
}

/** Ends the reading of a filter that is wrong. */
class Refused extends Error {
  readonly reason: FieldError;

  constructor(reason: FieldError) {
    super(reason.message);
    this.reason = reason;
  }
}

/** The type that values have in JSON; other text stands for times and dates. */
function typeOf({ kind }: FilterType): "boolean" | "number" | "string" {
  if (kind === "boolean") return kind;
  return kind === "integer" || kind === "number" ? "number" : "string";
}
