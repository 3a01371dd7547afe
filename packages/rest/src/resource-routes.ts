import { defaultLimit, maxLimit } from "./list-query.ts";
import type { Resource } from "./resource.ts";
import type { ResourceController } from "./resource-controller.ts";
import { defineRoute, type QueryParameter, type Route, type RouteResponse } from "./route.ts";
import type { JsonSchema, Schema } from "./schema.ts";

/** Makes the routes of a resource: list, show, create, update with PUT and PATCH, and delete. */
export function resourceRoutes<S extends Schema>(
  resource: Resource<S>,
  controller: ResourceController<S>,
): readonly Route[] {
  const { access, name, path, plural, output } = resource;
  const one = `${path}/:id`;
  const type = name.charAt(0).toUpperCase() + name.slice(1);
  const partial = { ...resource.input, required: [] };
  const document: RouteResponse = {
    description: `The ${name}`,
    schema: output,
    headers: { ETag: "Version of the document" },
  };
  const missing: RouteResponse = { description: `There is no such ${name}` };
  const changed: RouteResponse = { description: "The document has changed since (If-Match)" };
  const taken: RouteResponse = { description: "A unique value is taken" };

  return [
    defineRoute({
      method: "GET",
      path,
      operation: `list${type}s`,
      summary: `Lists ${plural}`,
      tag: plural,
      access: access.list,
      query: listParameters(resource),
      responses: { 200: listResponse(plural, output) },
      handle: (call) => controller.list(call),
    }),
    defineRoute({
      method: "GET",
      path: one,
      operation: `show${type}`,
      summary: `Shows one ${name}`,
      tag: plural,
      access: access.show,
      responses: { 200: document, 304: { description: "Not modified" }, 404: missing },
      handle: (call) => controller.show(call),
    }),
    defineRoute({
      method: "POST",
      path,
      operation: `create${type}`,
      summary: `Creates one ${name}`,
      tag: plural,
      access: access.create,
      body: resource.schema,
      responses: { 201: document, 409: taken },
      handle: (call) => controller.create(call),
    }),
    defineRoute({
      method: "PUT",
      path: one,
      operation: `update${type}`,
      summary: `Changes the given fields of one ${name}`,
      tag: plural,
      access: access.update,
      bodyReference: partial,
      responses: { 200: document, 404: missing, 409: taken, 412: changed },
      handle: (call) => controller.update(call),
    }),
    defineRoute({
      method: "PATCH",
      path: one,
      operation: `patch${type}`,
      summary: `Applies a JSON Merge Patch to one ${name}`,
      tag: plural,
      access: access.update,
      bodyReference: partial,
      responses: { 200: document, 404: missing, 409: taken, 412: changed },
      handle: (call) => controller.patch(call),
    }),
    defineRoute({
      method: "DELETE",
      path: one,
      operation: `remove${type}`,
      summary: `Deletes one ${name}`,
      tag: plural,
      access: access.remove,
      responses: { 204: { description: "It is deleted" }, 404: missing, 412: changed },
      handle: (call) => controller.remove(call),
    }),
  ];
}

/** Describes the answer of a list. */
export function listResponse(plural: string, item: JsonSchema): RouteResponse {
  return {
    description: `One page of ${plural}`,
    schema: { type: "array", items: item },
    headers: {
      "X-Total-Count": "Number of all that match",
      Link: "Targets of the first, previous, next and last page (RFC 8288)",
    },
  };
}

/** Describes the parameters of a list. */
export function listParameters(resource: Resource): readonly QueryParameter[] {
  const { list, searchable } = resource;
  const text = { type: "string" };
  const search = {
    name: "q",
    description: "Words, or parts of words, that must occur; case and accents do not matter",
    schema: { type: "string", maxLength: 200 },
  };
  return [
    ...(searchable ? [search] : []),
    {
      name: "page",
      description: "Number of the page",
      schema: { type: "integer", minimum: 1, default: 1 },
    },
    {
      name: "limit",
      description: "Documents on a page",
      schema: { type: "integer", minimum: 1, maximum: maxLimit, default: defaultLimit },
    },
    {
      name: "sort",
      description: `Fields to sort by, separated by commas, reversed with "-": ${list.sortable.join(", ")}`,
      schema: { ...text, default: list.defaultSort.join(",") },
    },
    {
      name: "fields",
      description: `Fields to show, or with "-" to leave out, separated by commas: ${list.selectable.join(", ")}`,
      schema: text,
    },
  ];
}
