import { maxSearchLength } from "@fetchwork/documents";
import { withoutRequired } from "../named-schema.ts";
import { compileListParameter } from "../resource/list-parameter.ts";
import {
  defaultLimit,
  hasParameter,
  type ListRules,
  maxLimit,
  type StandardParameter,
} from "../resource/list-rules.ts";
import type { Resource } from "../resource/resource.ts";
import type { JsonSchema } from "../schema.ts";
import { filterParameters } from "./filter-parameters.ts";
import type { QueryParameter, RouteResponse } from "./route.ts";
import { maxWhereLength } from "./where-parameter.ts";

/** Describes the response of a list; `fields` may leave out any field. */
export function listResponse(plural: string, item: JsonSchema): RouteResponse {
  return {
    description: `One page of ${plural}`,
    schema: { type: "array", items: withoutRequired(item) },
    headers: listHeaders,
  };
}

/** Describes the response of the list of a resource, in the shape that it has. */
export function resourceListResponse({ plural, output, shape, count }: Resource): RouteResponse {
  const array = listResponse(plural, output);
  if (shape === "array") return array;
  const properties = {
    rows: array.schema,
    ...(count === "none" ? {} : { count: counted }),
  };
  return { ...array, schema: { type: "object", properties, required: Object.keys(properties) } };
}

/** Describes the same response to a QUERY. */
export function queryResponse(resource: Resource): RouteResponse {
  const { Link: _, ...headers } = listHeaders;
  const next = "The member of the body that asks for the next page: `page=2`";
  return { ...resourceListResponse(resource), headers: { ...headers, "X-Next-Page": next } };
}

const counted = {
  type: "integer",
  minimum: 0,
  description: "The same as X-Total-Count",
};

const listHeaders = {
  ETag: "Hash of the response",
  "X-Total-Count": "Number of documents on all pages",
  "X-Total-Count-Capped": "true if there are more documents than were counted",
  "X-Result-Partial":
    "true if there may be more documents behind the next link than the page has room for",
  Link: "Targets of the first, previous, next and last page (RFC 8288)",
};

/** Describes the parameters of a list: of a resource, or of a route of one's own with rules. */
export function listParameters({ list: rules }: Pick<Resource, "list">): readonly QueryParameter[] {
  const { filters = [], parameters = {} } = rules;
  return [
    ...standardReferences(rules),
    ...[...filterParameters(filters).values()].map(({ reference }) => reference),
    ...Object.entries(parameters).map(([name, parameter]) => {
      const { description, required, schema } = compileListParameter(name, parameter);
      // A list is sent as one text.
      const sent = schema["type"] === "array" ? { type: "string" } : schema;
      return { name, description, schema: sent, ...(required ? { required } : {}) };
    }),
  ];
}

function standardReferences(rules: ListRules): readonly QueryParameter[] {
  const { defaultLimit: limit = defaultLimit, maxLimit: maximum = maxLimit } = rules;
  const text = { type: "string" };
  const distance = { type: "number", minimum: 0 };
  const all: readonly (readonly [StandardParameter, string, JsonSchema])[] = [
    [
      "q",
      "Full-text search: all words must match; case- and accent-insensitive. Words of 3 or more characters match parts of words, shorter ones beginnings",
      { ...text, maxLength: maxSearchLength },
    ],
    ["page", "Number of the page. Default: 1", { type: "integer", minimum: 1, default: 1 }],
    [
      "limit",
      `Documents on a page. Default: ${limit}`,
      { type: "integer", minimum: 1, maximum, default: limit },
    ],
    [
      "after",
      'Cursor from the "next" link of the previous page; empty for the first one. Cannot be combined with `page`',
      text,
    ],
    [
      "sort",
      `Fields to sort by, separated by commas, descending with "-": ${rules.sortable.join(", ")}. Default: ${rules.defaultSort.join(",")}`,
      { ...text, default: rules.defaultSort.join(",") },
    ],
    [
      "fields",
      `Fields to show, or with "-" to leave out, separated by commas: ${rules.selectable.join(", ")}`,
      text,
    ],
    ["near", "Latitude and longitude in degrees, separated by a comma; nearest first", text],
    ["min_distance", "Minimum distance from `near`, in meters", distance],
    ["max_distance", "Maximum distance from `near`, in meters", distance],
    [
      "where",
      `Filter as JSON, with and, or and not: {"or":[{"a":1},{"b":{"gt":2}}]}. Same fields and operators as the other filters`,
      { ...text, maxLength: maxWhereLength },
    ],
    ["trash", "Only removed documents, or all; for admins", { ...text, enum: ["only", "with"] }],
  ];
  return all
    .filter(([name]) => hasParameter(rules, name))
    .map(([name, description, schema]) => ({ name, description, schema }));
}
