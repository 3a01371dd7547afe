import { check } from "../errors.ts";
import type { Fields } from "../fields.ts";
import { withoutRequired } from "../named-schema.ts";
import { capitalized, collectionOperation, withArticle, wordsOf } from "../operation-name.ts";
import { runTogether } from "../operations/joined-call.ts";
import { queryOperation } from "../operations/query.ts";
import {
  createResourceController,
  type ResourceController,
} from "../operations/resource-controller.ts";
import { changeSchema } from "../plan/change-schema.ts";
import { fieldsReference } from "../plan/fields-parameter.ts";
import { createListReader } from "../plan/list-query.ts";
import { listParameters, queryResponse, resourceListResponse } from "../plan/list-reference.ts";
import { populateReference, readPopulate, withoutPopulate } from "../plan/populate-parameter.ts";
import { queryBodySchema } from "../plan/query-body.ts";
import { guarded } from "../plan/resource-access.ts";
import {
  defineRoute,
  type ResourceAction,
  type Route,
  type RouteDefinition,
  type RouteResponse,
} from "../plan/route.ts";
import type { Operation } from "../resource/access-rules.ts";
import type { ResourceHandler } from "../resource/call.ts";
import type { Resource } from "../resource/resource.ts";
import type { CamelCase, ResourceTypes } from "../route-types.ts";
import type { InputOf, JsonSchema, Schema } from "../schema.ts";
import { bulkRoute } from "./bulk-route.ts";
import { groupsRoute } from "./groups-route.ts";

/**
 * Makes the routes of a resource: list with GET and QUERY, show, create, update with PUT and PATCH,
 * and delete, each if the controller has a handler for it. A method without one is a 405, and not
 * in the OpenAPI document.
 *
 * @param controller - Default: `createResourceController(resource)`.
 *
 * @throws RestError `ERR_REST_DEFINITION` for a resource with `softDelete` and a controller without
 * `restore`, and for one with `bulk` and a controller without one of the handlers that change
 * documents.
 */
export function resourceRoutes<
  S extends Schema,
  Plural extends string,
  Shown,
  Related = unknown,
  Lists = unknown,
  Operations extends keyof ResourceController = keyof ResourceController,
>(
  resource: Resource<S, Plural, Shown, Fields, Related, Lists>,
  controller: {
    readonly [Operation in Operations]?: ResourceController<S>[Operation] | undefined;
  } = createResourceController(resource),
): readonly Route<
  ResourceTypes<CamelCase<Plural>, Shown, InputOf<S>, Related, Lists, Operations>
>[] {
  const { name, path, plural } = resource;
  const one = `${path}/:id`;
  const type = capitalized(name);
  const tag = plural;
  const singular = withArticle(name);
  // `fields` may leave out any field, as in lists.
  const shown = documentResponse(name, withoutRequired(resource.output));
  const changed = documentResponse(name, resource.changed);
  const created = {
    ...changed,
    headers: { ...changed.headers, Location: "Address of the document" },
  };
  const missing: RouteResponse = { description: `${capitalized(name)} not found` };
  const taken: RouteResponse = { description: "A unique value is already used" };
  const hasUnique = resource.collection.unique.length > 0;
  const conflicts = hasUnique ? { 409: taken } : {};
  const outdated = "the stored document does not match its schema";
  const stale: RouteResponse = {
    description: hasUnique ? `${taken.description}, or ${outdated}` : `T${outdated.slice(1)}`,
  };
  const readList = createListReader(resource.list);
  const handlers: Partial<ResourceController<S>> = controller;
  const { list, show, create, update, patch, remove, restore } = handlers;
  type Known = Route<
    ResourceTypes<CamelCase<Plural>, Shown, InputOf<S>, Related, Lists, Operations>
  >;
  const known = (action: ResourceAction, route: Route): Known => {
    return { ...route, resource, action, types: undefined };
  };
  /** The route of a handler; none where there is no handler. */
  const of = <Body>(
    action: ResourceAction,
    handler: ResourceHandler<Body> | undefined,
    operation: Operation,
    definition: Omit<RouteDefinition, "handle">,
  ): readonly Known[] => {
    if (handler === undefined) return [];
    const checked = guarded(resource, operation, handler);
    const asks = operation === "create" && typeof resource.access.create === "function";
    // Data that the rule of a creation reads still holds when the document is stored.
    const handle: ResourceHandler<Body> = asks ? (call) => runTogether(call, checked) : checked;
    const whole = { ...definition, handle: handle as RouteDefinition["handle"] };
    return [known(action, defineRoute(whole))];
  };

  return [
    ...of("list", list, "list", {
      method: "GET",
      path,
      operation: collectionOperation("list", path),
      summary: `List ${wordsOf(plural)}`,
      ...(resource.access.list === "owner"
        ? { description: "Those of the caller; all of them for admins" }
        : {}),
      tag,
      tagDescription: `Everything about ${wordsOf(plural)}`,
      ...routeRule(resource, "list"),
      query: [...listParameters(resource), ...populateReference(resource)],
      checkQuery: (query) => {
        readPopulate(resource, query);
        readList(withoutPopulate(resource, query));
      },
      responses: { 200: resourceListResponse(resource), 304: notModified },
    }),
    ...of("query", list && queryOperation(resource, list), "list", {
      method: "QUERY",
      path,
      operation: collectionOperation("query", path),
      summary: `Query ${wordsOf(plural)}`,
      description: "The list, with its parameters in the body (RFC 10008)",
      tag,
      ...routeRule(resource, "list"),
      bodyReference: queryBodySchema(resource),
      responses: { 200: queryResponse(resource), 304: notModified },
    }),
    ...of("show", show, "show", {
      method: "GET",
      path: one,
      operation: `show${type}`,
      summary: `Show ${singular}`,
      tag,
      ...routeRule(resource, "show"),
      conditional: true,
      query: [...fieldsReference(resource), ...populateReference(resource)],
      responses: { 200: shown, 304: notModified, 404: missing },
    }),
    ...of("create", create, "create", {
      method: "POST",
      path,
      operation: `create${type}`,
      summary: `Create ${singular}`,
      tag,
      ...routeRule(resource, "create"),
      // The same but for what clients do not set and nobody sees.
      body: resource.sent,
      bodyReference: resource.input,
      responses: { 201: created, ...conflicts },
    }),
    ...of("update", update, "update", {
      method: "PUT",
      path: one,
      operation: `update${type}`,
      summary: `Change fields of ${singular}`,
      description: "Fields that are not sent keep their values",
      tag,
      ...routeRule(resource, "update"),
      conditional: true,
      bodyReference: changeSchema(type, resource, "PUT"),
      responses: { 200: changed, 404: missing, 409: stale },
    }),
    ...of("patch", patch, "update", {
      method: "PATCH",
      path: one,
      operation: `patch${type}`,
      summary: `Patch ${singular}`,
      description:
        "JSON Merge Patch (RFC 7396): `null` removes a field, and fields that are not sent keep their values",
      tag,
      ...routeRule(resource, "update"),
      conditional: true,
      bodyReference: changeSchema(type, resource, "PATCH"),
      responses: { 200: changed, 404: missing, 409: stale },
    }),
    ...of("remove", remove, "remove", {
      method: "DELETE",
      path: one,
      operation: `remove${type}`,
      summary: `Delete ${singular}`,
      ...(resource.softDelete ? { description: "It is kept, and can be restored" } : {}),
      tag,
      ...routeRule(resource, "remove"),
      conditional: true,
      responses: { 204: { description: "Deleted" }, 404: missing },
    }),
    ...(resource.softDelete ? restoreRoute(restore) : []),
    ...(list !== undefined && (resource.list.groups ?? []).length > 0
      ? [known("groups", groupsRoute(resource, routeRule(resource, "list")))]
      : []),
    ...(resource.bulkLimit > 0 ? [known("bulk", bulkRoute(resource, handlers))] : []),
  ];

  function restoreRoute(handler: ResourceHandler | undefined): readonly Known[] {
    check(
      handler !== undefined,
      `the controller of ${name} has no restore, which its softDelete needs`,
    );
    return of("restore", handler, "restore", {
      method: "POST",
      path: `${one}/restore`,
      operation: `restore${type}`,
      summary: `Restore ${singular}`,
      tag,
      ...routeRule(resource, "restore"),
      conditional: true,
      responses: { 200: changed, 404: missing, ...conflicts },
    });
  }
}

/** The rule of a route; the owner, and what a function decides, depend on the document. */
function routeRule(
  resource: Resource,
  operation: Operation,
): Pick<RouteDefinition, "access" | "checksCaller"> {
  const rule = resource.access[operation];
  if (typeof rule === "function") return { access: "public", checksCaller: true };
  const limits = { create: resource.createRules, update: resource.updateRules };
  const isLimited =
    (operation === "create" || operation === "update") && limits[operation].size > 0;
  if (rule === "public" && isLimited) return { access: rule, checksCaller: true };
  return { access: rule === "owner" ? "user" : rule };
}

const notModified: RouteResponse = {
  description: "Not modified",
  headers: { ETag: "Version of the document" },
};

/** Describes the response with one document. */
export function documentResponse(name: string, schema: JsonSchema): RouteResponse {
  return { description: `The ${name}`, schema, headers: { ETag: "Version of the document" } };
}
