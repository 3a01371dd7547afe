import { requireOwner } from "./access.ts";
import type { Account } from "./account.ts";
import { notFound } from "./conditional-write.ts";
import { defaultLimit, maxLimit, maxSearchLength } from "./list-query.ts";
import type { ResourceHandler } from "./operations/resource-call.ts";
import type { Operation, Resource } from "./resource.ts";
import type { ResourceController } from "./resource-controller.ts";
import {
  defineRoute,
  type QueryParameter,
  type ResourceAction,
  type Route,
  type RouteDefinition,
  type RouteResponse,
} from "./route.ts";
import type { CamelCase, ResourceTypes } from "./route-types.ts";
import { acceptsNull, propertiesOf, type InputOf, type JsonSchema, type Schema } from "./schema.ts";

/** Makes the routes of a resource: list, show, create, update with PUT and PATCH, and delete. */
export function resourceRoutes<S extends Schema, Plural extends string, Shown>(
  resource: Resource<S, Plural, Shown>,
  controller: ResourceController<S>,
): readonly Route<ResourceTypes<CamelCase<Plural>, Shown, InputOf<S>>>[] {
  const { name, path, plural, output } = resource;
  const one = `${path}/:id`;
  const type = capitalized(name);
  const tag = plural;
  const document = documentResponse(name, output);
  const created = {
    ...document,
    headers: { ...document.headers, Location: "Address of the document" },
  };
  const missing: RouteResponse = { description: `There is no such ${name}` };
  const taken: RouteResponse = { description: "A unique value is taken" };
  const conflicts = resource.collection.unique.length > 0 ? { 409: taken } : {};
  const bodyReference = partialSchema(resource.input);
  const { list, show, create, update, patch, remove } = controller;
  const of = (
    action: ResourceAction,
    route: Route,
  ): Route<ResourceTypes<CamelCase<Plural>, Shown, InputOf<S>>> => {
    return { ...route, resource, action, types: undefined };
  };

  return [
    of(
      "list",
      defineRoute({
        method: "GET",
        path,
        operation: `list${plural.split("-").map(capitalized).join("")}`,
        summary: `Lists ${plural}`,
        tag,
        access: routeRule(resource, "list"),
        query: listParameters(resource),
        responses: { 200: listResponse(plural, output) },
        handle: list,
      }),
    ),
    of(
      "show",
      defineRoute({
        method: "GET",
        path: one,
        operation: `show${type}`,
        summary: `Shows one ${name}`,
        tag,
        access: routeRule(resource, "show"),
        conditional: true,
        responses: { 200: document, 304: notModified, 404: missing },
        handle: ownersOnly(resource, "show", show),
      }),
    ),
    of(
      "create",
      defineRoute({
        method: "POST",
        path,
        operation: `create${type}`,
        summary: `Creates one ${name}`,
        tag,
        access: routeRule(resource, "create"),
        body: resource.schema,
        responses: { 201: created, ...conflicts },
        handle: create,
      }),
    ),
    of(
      "update",
      defineRoute({
        method: "PUT",
        path: one,
        operation: `update${type}`,
        summary: `Changes the given fields of one ${name}`,
        tag,
        access: routeRule(resource, "update"),
        conditional: true,
        bodyReference,
        responses: { 200: document, 404: missing, ...conflicts },
        handle: ownersOnly(resource, "update", update),
      }),
    ),
    of(
      "patch",
      defineRoute({
        method: "PATCH",
        path: one,
        operation: `patch${type}`,
        summary: `Applies a JSON Merge Patch to one ${name}`,
        tag,
        access: routeRule(resource, "update"),
        conditional: true,
        bodyReference,
        responses: { 200: document, 404: missing, ...conflicts },
        handle: ownersOnly(resource, "update", patch),
      }),
    ),
    of(
      "remove",
      defineRoute({
        method: "DELETE",
        path: one,
        operation: `remove${type}`,
        summary: `Deletes one ${name}`,
        tag,
        access: routeRule(resource, "remove"),
        conditional: true,
        responses: { 204: { description: "It is deleted" }, 404: missing },
        handle: ownersOnly(resource, "remove", remove),
      }),
    ),
  ];
}

/** The rule of a route; who the owner is shows only with the document. */
function routeRule(resource: Resource, operation: Operation): RouteDefinition["access"] {
  const rule = resource.access[operation];
  return rule === "owner" ? "user" : rule;
}

/** Applies the rule `owner` before a handler, whoever has written it. */
function ownersOnly(
  resource: Resource,
  operation: Operation,
  handle: ResourceHandler,
): ResourceHandler {
  const { access, collection, owner } = resource;
  if (access[operation] !== "owner" || owner === undefined) return handle;
  return async (call) => {
    const document = await call.store.collection(collection).get(call.params["id"] ?? "");
    if (!document) throw notFound();
    requireOwner(call.user as Account, document[owner]); // The rule of the route is `user`.
    return handle(call);
  };
}

const notModified: RouteResponse = {
  description: "Not modified",
  headers: { ETag: "Version of the document" },
};

/** Describes the answer with one document. */
export function documentResponse(name: string, schema: JsonSchema): RouteResponse {
  return { description: `The ${name}`, schema, headers: { ETag: "Version of the document" } };
}

/** Describes the answer of a list; `fields` may leave out any field. */
export function listResponse(plural: string, item: JsonSchema): RouteResponse {
  return {
    description: `One page of ${plural}`,
    schema: { type: "array", items: { ...item, required: [] } },
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
    schema: { ...text, maxLength: maxSearchLength },
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

/** What an update takes: any of the fields, and `null` for none. */
function partialSchema(schema: JsonSchema): JsonSchema {
  const properties: Record<string, JsonSchema> = {};
  for (const [name, property] of Object.entries(propertiesOf(schema, "a resource"))) {
    properties[name] = acceptsNull(property) ? property : { anyOf: [property, { type: "null" }] };
  }
  return { ...schema, properties, required: [] };
}

function capitalized(word: string): string {
  return word.charAt(0).toUpperCase() + word.slice(1);
}
