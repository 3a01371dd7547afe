import { accessTokenField } from "../access-token.ts";
import type { AccessRule } from "../access.ts";
import { named, nameOfSchema } from "../named-schema.ts";
import { capitalized } from "../operation-name.ts";
import { createResourceGraph } from "../plan/resource-graph.ts";
import { queryMediaType, type Route } from "../plan/route.ts";
import type { ResourceGraph } from "../resource/relations/referrers.ts";
import type { Resource } from "../resource/resource.ts";
import { type JsonSchema, jsonSchemaOf } from "../schema.ts";
import { Components } from "./components.ts";
import {
  describeResponse,
  problemContent,
  problemSchema,
  type RefusalName,
  refusals,
} from "./refusals.ts";

/** Title, version and introduction of an API. */
export interface ApiInfo {
  readonly title: string;
  /** Version of the API, not of the OpenAPI format. */
  readonly version: string;
  /** Introduction of the reference, in Markdown. Default: bodies, errors and repeated requests. */
  readonly description?: string | undefined;
}

/** An OpenAPI document, version 3.2, which describes QUERY. */
export interface OpenApiDocument {
  readonly openapi: "3.2.0";
  readonly info: ApiInfo;
  readonly servers: readonly { readonly url: string }[];
  readonly tags: readonly { readonly name: string; readonly description?: string }[];
  readonly paths: Readonly<Record<string, JsonSchema>>;
  readonly components: JsonSchema;
}

/** Describes routes in OpenAPI 3.2, from the same definitions that serve and validate. */
export function openApiDocument(info: ApiInfo, routes: readonly Route[]): OpenApiDocument {
  const { title, version, description = introduction } = info;
  const resources = createResourceGraph(routes);
  const components = new Components();
  const paths: Record<string, Record<string, unknown>> = {};
  for (const route of routes) {
    const path = route.path.replace(/:(\w+)/g, "{$1}");
    (paths[path] ??= {})[route.method.toLowerCase()] = operation(route, { resources, components });
  }
  return {
    openapi: "3.2.0",
    info: { title, version, description },
    servers: [{ url: "/" }],
    tags: describeTags(routes),
    paths,
    components: {
      schemas: { ...components.collected.schemas, Problem: problemSchema },
      responses: components.collected.responses,
      securitySchemes: usedSchemes(paths),
    },
  };
}

interface Parts {
  readonly resources: ResourceGraph;
  readonly components: Components;
}

const introduction = `Send bodies as JSON or as a form; responses are JSON. Errors are problem details
([RFC 9457](https://www.rfc-editor.org/rfc/rfc9457)) with all invalid fields in \`errors\`.
Send an \`Idempotency-Key\` with a POST to retry it safely.`;

function describeTags(routes: readonly Route[]): OpenApiDocument["tags"] {
  return [...new Set(routes.map(({ tag }) => tag))].map((name) => {
    const described = routes.find(({ tag, tagDescription }) => tag === name && tagDescription);
    const description = described?.tagDescription;
    return description === undefined ? { name } : { name, description };
  });
}

/** Only the schemes that an operation names: each one is a field in the dialog of the reference. */
function usedSchemes(paths: OpenApiDocument["paths"]): JsonSchema {
  const operations = Object.values(paths).flatMap((path) => Object.values(path) as JsonSchema[]);
  const used = operations
    .flatMap((one) => one["security"] as readonly JsonSchema[])
    .flatMap((one) => Object.keys(one));
  return Object.fromEntries(
    Object.entries(securitySchemes).filter(([name]) => used.includes(name)),
  );
}

function operation(route: Route, parts: Parts): JsonSchema {
  const { access, action, description, resource, method, summary, tag } = route;
  const parameters = [
    ...pathParameters(route.path),
    ...queryParameters(route),
    ...(route.conditional ? conditions : []),
    ...(method === "POST" ? [idempotencyKey] : []),
  ];
  const requestBody = method === "GET" ? undefined : bodyOf(route, parts.components);
  return {
    operationId: route.operation,
    summary,
    ...(description === undefined ? {} : { description }),
    tags: [tag],
    security: asksForCaller(route) ? [{}, ...security.user] : security[access],
    ...(resource && action ? { "x-fetchwork": { resource: clientName(resource), action } } : {}),
    ...(parameters.length > 0 ? { parameters } : {}),
    ...(requestBody ? { requestBody } : {}),
    responses: responsesOf(route, parts),
  };
}

/** Name of a resource in the typed client; the types say the same with `CamelCase`. */
function clientName({ plural }: Resource): string {
  return plural.replace(/-(.)/g, (_, letter: string) => letter.toUpperCase());
}

function pathParameters(path: string): readonly JsonSchema[] {
  return [...path.matchAll(/:(\w+)/g)].map(([, name]) => ({
    name,
    in: "path",
    required: true,
    schema: { type: "string", minLength: 1 },
  }));
}

function queryParameters(route: Route): readonly JsonSchema[] {
  return (route.query ?? []).map(({ name, description, schema, required }) => ({
    name,
    in: "query",
    description,
    ...(required === true ? { required } : {}),
    schema,
  }));
}

function bodyOf(route: Route, components: Components): JsonSchema | undefined {
  const sent = route.bodyReference ?? (route.body && jsonSchemaOf(route.body, "input"));
  const own = route.access === "master+password" ? withMasterKey(sent ?? {}) : sent;
  if (own === undefined) return undefined;
  const required = own["required"];
  const body = {
    schema: components.schema(withName(own, `${capitalized(route.operation)}Body`)),
  };
  if (route.method === "QUERY") return { required: true, content: { [queryMediaType]: body } };
  return {
    required: Array.isArray(required) && required.length > 0,
    content: {
      ...(route.method === "PATCH" ? { "application/merge-patch+json": body } : {}),
      "application/json": body,
      "application/x-www-form-urlencoded": body,
      "multipart/form-data": body,
    },
  };
}

/** An Authorization header holds one scheme, here the password: the key is a field of the body. */
function withMasterKey({ properties = {}, ...schema }: JsonSchema): JsonSchema {
  const key = { type: "string", description: "The master key" };
  return {
    ...schema,
    type: "object",
    properties: { [accessTokenField]: key, ...(properties as JsonSchema) },
  };
}

/** A body that has no name is called after its operation. */
function withName(schema: JsonSchema, name: string): JsonSchema {
  return nameOfSchema(schema) === undefined && "properties" in schema
    ? named(name, schema)
    : schema;
}

function responsesOf(route: Route, { components, resources }: Parts): JsonSchema {
  const { action, resource } = route;
  const responses: Record<string, unknown> = {};
  const successful = route.response && jsonSchemaOf(route.response, "output");
  for (const [text, response] of Object.entries(route.responses)) {
    const status = Number(text);
    const schema = response.schema ?? (hasBody(status) ? successful : undefined);
    const problem = status >= 400 ? problemContent(status) : undefined;
    const type = (hasBody(status) ? route.responseType : undefined) ?? "application/json";
    const content = schema ? { [type]: { schema: components.schema(schema) } } : problem;
    const whole = describeResponse(response, content);
    // Many operations say the same of what is missing: it is described once.
    const name = response.description.split(" ").map(capitalized).join("");
    const isShared = status === 404 && !response.schema && !response.headers;
    responses[status] =
      isShared && /^\w+NotFound$/.test(name) ? components.response(name, () => whole) : whole;
  }
  const add = (name: RefusalName): void => {
    const { status } = refusals[name];
    responses[status] ??= components.response(name, () =>
      describeResponse(refusals[name], problemContent(status === "default" ? 500 : status)),
    );
  };
  if (action === "remove" && resource && resources.referrersOf(resource).length > 0) {
    add("ReferredTo");
  }
  add("BadRequest");
  if (route.conditional) add("VersionMismatch");
  if (route.access !== "public" || asksForCaller(route)) {
    add("Unauthenticated");
    add("Forbidden");
  }
  if (route.access.endsWith("password")) {
    add("TooManyAttempts");
    add("PasswordsBusy");
  }
  if (route.method === "POST") {
    add("KeyInUse");
    add("KeyOfAnotherRequest");
  }
  if (route.method !== "GET") {
    add("BodyTooLarge");
    add("UnsupportedMediaType");
  }
  add("Failure");
  return responses;
}

/** Whether an open route is not open for everything: removed documents are for admins. */
function asksForCaller({ access, action, checksCaller, resource }: Route): boolean {
  const hasTrash = (action === "list" || action === "query") && resource?.softDelete === true;
  return access === "public" && (checksCaller === true || hasTrash);
}

const conditions: readonly JsonSchema[] = ["If-Match", "If-None-Match"].map((name) => ({
  name,
  in: "header",
  description: "ETag of the document (RFC 9110 section 13.1)",
  schema: { type: "string" },
}));

const idempotencyKey: JsonSchema = {
  name: "Idempotency-Key",
  in: "header",
  description: "Unique key that makes retries safe: the first response is returned again",
  schema: { type: "string", minLength: 1, maxLength: 255 },
};

/** Whether a status has the body that `response` describes. */
function hasBody(status: number): boolean {
  return status >= 200 && status < 300 && status !== 204 && status !== 205;
}

const securitySchemes: JsonSchema = {
  token: {
    type: "http",
    scheme: "bearer",
    description: `Access token of a user, from \`POST /auth\`, or an API key. Can also be sent as the query parameter or body field \`${accessTokenField}\`.`,
  },
  password: { type: "http", scheme: "basic", description: "Email and password of a user." },
  masterKey: {
    type: "http",
    scheme: "bearer",
    description: "The master key of the server (`MASTER_KEY` in its `.env` file).",
  },
};

const byToken = [{ token: [] }];

const security: Readonly<Record<AccessRule, readonly JsonSchema[]>> = {
  public: [],
  user: byToken,
  admin: byToken,
  master: [{ masterKey: [] }],
  password: [{ password: [] }],
  "master+password": [{ password: [] }],
};
