import { named } from "../named-schema.ts";
import { capitalized, collectionOperation, wordsOf } from "../operation-name.ts";
import { groupsOperation } from "../operations/groups.ts";
import { createGroupsReader, groupsReference } from "../plan/groups-query.ts";
import { guarded } from "../plan/resource-access.ts";
import { defineRoute, type Route, type RouteDefinition } from "../plan/route.ts";
import type { FilterField } from "../resource/filter-field.ts";
import { groupValues, summable } from "../resource/groups.ts";
import type { Resource } from "../resource/resource.ts";
import type { JsonSchema } from "../schema.ts";

/** Makes the route of groups, with the list's rule: `GET /orders/groups?by=state&sum=total`. */
export function groupsRoute(
  resource: Resource,
  rule: Pick<RouteDefinition, "access" | "checksCaller">,
): Route {
  const { path, plural } = resource;
  const read = createGroupsReader(resource);
  return defineRoute({
    method: "GET",
    path: `${path}/groups`,
    operation: collectionOperation("group", path),
    summary: `Count ${wordsOf(plural)} by group, with sums`,
    tag: plural,
    ...rule,
    query: groupsReference(resource),
    checkQuery: (query) => read({ query, user: undefined, isMaster: true }),
    responses: {
      200: {
        description: `Groups of ${plural}`,
        schema: { type: "array", items: groupSchema(resource) },
        headers: {
          ETag: "Hash of the response",
          "X-Total-Count": "Number of groups in the response",
          "X-Total-Count-Capped": "true where there are more groups than that",
        },
      },
      304: { description: "Not modified", headers: { ETag: "Hash of the response" } },
    },
    handle: guarded(resource, "list", groupsOperation(resource)),
  });
}

function groupSchema({ list, name }: Resource): JsonSchema {
  const { groups = [] } = list;
  const values = groupValues.flatMap((kind) => {
    const fields = summable(kind, groups);
    return fields.length === 0 ? [] : [[kind, valuesSchema(fields)] as const];
  });
  const properties = {
    by: valuesSchema(groups),
    count: { type: "integer", minimum: 0 },
    ...Object.fromEntries(values),
  };
  const schema = { type: "object", properties, required: ["by", "count"] };
  return named(`${capitalized(name)}Group`, schema, "What is counted and summed up of one group");
}

/** Values by field; `null` for documents without one. */
function valuesSchema(fields: readonly FilterField[]): JsonSchema {
  const properties = fields.map(({ path, type }) => [path, { type: typesOf(type.kind) }] as const);
  return { type: "object", properties: Object.fromEntries(properties) };
}

function typesOf(kind: FilterField["type"]["kind"]): readonly string[] {
  if (kind === "integer" || kind === "number") return ["number", "null"];
  return kind === "boolean" ? ["boolean", "null"] : ["string", "number", "boolean", "null"];
}
