import { closestName, isObject } from "@fetchwork/kit";
import { fieldError, type FieldError } from "../field-error.ts";
import { badFields } from "../problem.ts";
import { compileListParameter } from "../resource/list-parameter.ts";
import {
  hasParameter,
  type ListRules,
  populateName,
  type StandardParameter,
  standardParameters,
} from "../resource/list-rules.ts";
import type { Resource } from "../resource/resource.ts";
import type { JsonSchema } from "../schema.ts";
import { listParameters } from "./list-reference.ts";
import { populateReference } from "./populate-parameter.ts";
import { whereReader } from "./where-parameter.ts";

/** Reads the body of a QUERY as the parameters that a GET of the same list would have. */
export type QueryBodyReader = (body: Readonly<Record<string, unknown>>) => URLSearchParams;

/** Unknown members that a refusal names at most, and the characters of each. */
const maxUnknown = 10;
const maxNameLength = 64;

const text = { type: "string" };
const number = { type: "number" };
const filter = { type: "object" };
const names = { type: ["string", "array"], items: text };

/** Schemas of the members in JSON that are more than the text of a parameter. */
const kinds: Readonly<Partial<Record<StandardParameter | typeof populateName, JsonSchema>>> = {
  page: { type: "integer" },
  limit: { type: "integer" },
  sort: names,
  fields: names,
  populate: names,
  near: { type: "array", items: number },
  min_distance: number,
  max_distance: number,
  where: filter,
};

/**
 * Describes the body of a QUERY: the parameters of the list by their names, but for the filters of
 * single fields, which `where` has.
 */
export function queryBodySchema(resource: Resource): JsonSchema {
  const { list: rules } = resource;
  const members = membersOf(resource, rules);
  const parameters = [...listParameters(resource), ...populateReference(resource)];
  const described = parameters.flatMap(({ name, description, schema }) => {
    const member = members.get(name);
    if (member === undefined) return [];
    const isSame = schema["type"] === member["type"];
    return [[name, { ...(isSame ? schema : {}), ...member, description }]] as const;
  });
  const required = Object.entries(rules.parameters ?? {}).flatMap(([name, one]) =>
    one.required === true ? [name] : [],
  );
  return {
    type: "object",
    properties: Object.fromEntries(described),
    ...(required.length > 0 ? { required } : {}),
    additionalProperties: false,
  };
}

/**
 * Prepares the reading of the bodies of QUERY for callers who see what the rules say. Types and
 * names are checked here, and `where`; everything else by the reader of the parameters.
 *
 * The function throws a Problem 400 that names each wrong member, those inside `where` by their
 * path: `where.or.0.stars`.
 */
export function createQueryBodyReader(resource: Resource, rules: ListRules): QueryBodyReader {
  const members = membersOf(resource, rules);
  const readWhere = whereReader(rules.filters ?? []);

  return (body) => {
    const errors: FieldError[] = [];
    const query = new URLSearchParams();
    for (const [name, value] of Object.entries(body)) {
      const schema = members.get(name);
      if (schema === undefined) {
        if (errors.length < maxUnknown) errors.push(unknownMember(name, [...members.keys()]));
      } else if (!fits(value, schema)) {
        errors.push(fieldError(name, "type", `${name} must be of type ${typeText(schema)}`));
      } else if (name === "where") {
        const condition = readWhere.value(value);
        if ("where" in condition) query.set(name, JSON.stringify(value));
        else errors.push(condition);
      } else if (Array.isArray(value) && value.some((one) => String(one).includes(","))) {
        errors.push(fieldError(name, "invalid", `${name} must not have a comma in a member`));
      } else {
        query.set(name, Array.isArray(value) ? value.join(",") : String(value));
      }
    }
    if (errors.length > 0) throw badFields(errors);
    return query;
  };
}

/** The members of a body by their names, each with the schema of its value. */
function membersOf(
  { relations: { paths } }: Resource,
  rules: ListRules,
): ReadonlyMap<string, JsonSchema> {
  const members = new Map<string, JsonSchema>();
  for (const name of standardParameters) {
    if (hasParameter(rules, name)) members.set(name, kinds[name] ?? text);
  }
  if (paths.length > 0) members.set(populateName, names);
  for (const [name, parameter] of Object.entries(rules.parameters ?? {})) {
    members.set(name, compileListParameter(name, parameter).schema);
  }
  return members;
}

function unknownMember(name: string, known: readonly string[]): FieldError {
  const shown = name.slice(0, maxNameLength);
  const meant = closestName(name, known);
  const advice =
    meant === undefined ? `; it has ${known.join(", ")}` : `, did you mean "${meant}"?`;
  return fieldError(shown, "unknown", `${shown} is not a member of a query${advice}`);
}

/** Whether a value has the type of a schema; without a type: text, number or boolean. */
function fits(value: unknown, schema: JsonSchema): boolean {
  const { type, items } = schema;
  const types: readonly unknown[] = [type].flat();
  if (Array.isArray(value)) {
    const member = isObject(items) ? items : {};
    return (
      types.includes("array") && value.every((one) => !Array.isArray(one) && fits(one, member))
    );
  }
  if (isObject(value)) return schema === filter;
  const own = typeof value;
  if (type === undefined) return own === "string" || own === "number" || own === "boolean";
  // Whether a number is whole is told with its bounds.
  return types.includes(own) || (own === "number" && types.includes("integer"));
}

function typeText({ type }: JsonSchema): string {
  if (Array.isArray(type)) return type.join(" or ");
  return typeof type === "string" ? type : "string";
}
