import { check } from "../errors.ts";
import { capitalized, collectionOperation, wordsOf } from "../operation-name.ts";
import { bulkHandler } from "../operations/bulk/run-bulk.ts";
import type { ResourceController } from "../operations/resource-controller.ts";
import { changeSchema } from "../plan/change-schema.ts";
import { defineRoute, type Route, type RouteDefinition } from "../plan/route.ts";
import type { Resource } from "../resource/resource.ts";
import type { JsonSchema, Schema } from "../schema.ts";

/** Makes the route of bulk requests: `POST /articles/bulk`. */
export function bulkRoute<S extends Schema>(
  resource: Resource<S>,
  controller: Partial<ResourceController<S>>,
): Route {
  const { name, path, plural, collection } = resource;
  const { create, patch, remove, update } = controller;
  check(
    create && patch && remove && update,
    `bulk of ${name} needs a controller with create, update, patch and remove`,
  );
  return defineRoute({
    method: "POST",
    path: `${path}/bulk`,
    operation: collectionOperation("bulk", path),
    summary: `Create, change and delete ${wordsOf(plural)} in one request, all or none`,
    tag: plural,
    ...bulkRule(resource),
    bodyReference: bodySchema(resource),
    responses: {
      200: { description: "Result of each operation", schema: resultsSchema(resource) },
      404: { description: `${capitalized(name)} not found` },
      409: { description: "A unique value is already used, or another document refers to one" },
      412: { description: `A ${collection.name} document is of another version` },
    },
    handle: bulkHandler(resource, { create, patch, remove, update }),
  });
}

/** The rule that every caller of any operation satisfies; each item is checked by its own. */
function bulkRule({
  access: { create, update, remove },
  name,
}: Resource): Pick<RouteDefinition, "access" | "checksCaller"> {
  const rules = [create, update, remove];
  if (rules.every((rule) => rule === "master")) return { access: "master" };
  check(
    !rules.includes("master"),
    `bulk of ${name} needs operations of the rule master all or none`,
  );
  if (rules.every((rule) => rule === "admin")) return { access: "admin" };
  const isOpen = rules.some((rule) => rule === "public" || typeof rule === "function");
  return isOpen ? { access: "public", checksCaller: true } : { access: "user" };
}

function bodySchema(resource: Resource): JsonSchema {
  const { bulkLimit, input, name } = resource;
  const id = { type: "string", minLength: 1 };
  const version = { type: "integer", minimum: 1, description: "As in the entity tag" };
  const change = (method: "PATCH" | "PUT") => changeSchema(capitalized(name), resource, method);
  const operations = {
    type: "array",
    minItems: 1,
    maxItems: bulkLimit,
    items: {
      oneOf: [
        item({ op: op("create"), body: input }, ["op", "body"]),
        item({ op: op("update"), id, version, body: change("PUT") }, ["op", "id", "body"]),
        item({ op: op("patch"), id, version, body: change("PATCH") }, ["op", "id", "body"]),
        item({ op: op("remove"), id, version }, ["op", "id"]),
      ],
    },
  };
  return { type: "object", properties: { operations }, required: ["operations"] };
}

function op(name: string): JsonSchema {
  return { const: name };
}

function item(
  properties: Readonly<Record<string, unknown>>,
  required: readonly string[],
): JsonSchema {
  return { type: "object", properties, required, additionalProperties: false };
}

function resultsSchema({ changed }: Resource): JsonSchema {
  const properties = {
    status: { type: "integer", enum: [200, 201, 204] },
    id: { type: "string" },
    version: { type: "integer", minimum: 1 },
    body: changed,
  };
  return { type: "array", items: { type: "object", properties, required: ["status", "id"] } };
}
