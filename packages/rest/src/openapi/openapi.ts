import { accessTokenField } from "../access-token.ts";
import type { AccessRule } from "../access.ts";
import { named, nameOfSchema } from "../named-schema.ts";
import { capitalized } from "../operation-name.ts";
import { createResourceGraph } from "../plan/resource-graph.ts";
import type { Route } from "../plan/route.ts";
import type { ResourceGraph } from "../resource/relations/referrers.ts";
import type { Resource } from "../resource/resource.ts";
import { type JsonSchema, jsonSchemaOf } from "../schema.ts";
import { Components } from "./components.ts";
import { exampleOf } from "./example.ts";
import {
  describeRefusal,
  problemContent,
  problemSchema,
  type RefusalName,
  refusals,
} from "./refusals.ts";

/** What an API says of itself. */
export interface ApiInfo {
  readonly title: string;
  /** Version of the API, not of the OpenAPI format. */
  readonly version: string;
  /** Introduction for the reference, in Markdown. */
  readonly description?: string | undefined;
}

/** An OpenAPI document, version 3.1. */
export interface OpenApiDocument {
  readonly openapi: "3.1.0";
  readonly info: ApiInfo;
  readonly servers: readonly { readonly url: string }[];
  readonly tags: readonly { readonly name: string; readonly description: string }[];
  readonly paths: Readonly<Record<string, JsonSchema>>;
  readonly components: JsonSchema;
}

/** Describes routes in OpenAPI 3.1, from the same definitions that serve and validate. */
export function openApiDocument(info: ApiInfo, routes: readonly Route[]): OpenApiDocument {
  const { title, version, description } = info;
  const resources = createResourceGraph(routes);
  const components = new Components();
  const paths: Record<string, Record<string, unknown>> = {};
  for (const route of routes) {
    const path = route.path.replace(/:(\w+)/g, "{$1}");
    (paths[path] ??= {})[route.method.toLowerCase()] = operation(route, { resources, components });
  }
  return {
    openapi: "3.1.0",
    info: { title, version, ...(description === undefined ? {} : { description }) },
    servers: [{ url: "/" }],
    tags: [...new Set(routes.map(({ tag }) => tag))].map((name) => ({
      name,
      description: `Operations on ${name}`,
    })),
    paths,
    components: describeComponents(components),
  };
}

interface Parts {
  readonly resources: ResourceGraph;
  readonly components: Components;
}

function describeComponents(components: Components): JsonSchema {
  const { schemas, responses } = components.collected;
  return { schemas: { ...schemas, Problem: problemSchema }, responses, securitySchemes };
}

function operation(route: Route, { resources, components }: Parts): JsonSchema {
  const { access, action, resource, method, operation: operationId, summary, tag } = route;
  const parameters = [
    ...pathParameters(route.path),
    ...queryParameters(route),
    ...(route.conditional ? conditions : []),
    ...(method === "POST" ? [idempotencyKey] : []),
  ];
  const requestBody = method === "GET" ? undefined : bodyOf(route, components);
  return {
    operationId,
    summary,
    tags: [tag],
    security: asksForCaller(route) ? [{}, ...security.user] : security[access],
    ...(resource && action ? { "x-fetchwork": { resource: clientName(resource), action } } : {}),
    ...(parameters.length > 0 ? { parameters } : {}),
    ...(requestBody ? { requestBody } : {}),
    responses: responsesOf(route, {
      components,
      isReferredTo:
        action === "remove" && resource !== undefined && resources.referrersOf(resource).length > 0,
    }),
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
    example: "0192f0c1-7a3e-7c3b-8f2a-5d1e4b6c7a80",
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
  const own = route.bodyReference ?? (route.body && jsonSchemaOf(route.body, "input"));
  const needsToken = route.access !== "public" && route.access !== "password";
  if (!own && !needsToken) return undefined;
  const required = own?.["required"];
  const schema =
    own === undefined ? tokenSchema : withName(own, `${capitalized(route.operation)}Body`);
  const body = { ...withExample(schema), schema: components.schema(schema) };
  return {
    ...(needsToken && own
      ? { description: `May have the token as its field ${accessTokenField}` }
      : {}),
    required: Array.isArray(required) && required.length > 0,
    content: {
      ...(route.method === "PATCH" ? { "application/merge-patch+json": body } : {}),
      "application/json": body,
      "application/x-www-form-urlencoded": body,
      "multipart/form-data": body,
    },
  };
}

/** A body that has no name is called after its operation. */
function withName(schema: JsonSchema, name: string): JsonSchema {
  return nameOfSchema(schema) === undefined && "properties" in schema
    ? named(name, schema)
    : schema;
}

/** A schema with an example, where there is one. */
function withExample(schema: JsonSchema): JsonSchema {
  const example = exampleOf(schema);
  return example === undefined ? { schema } : { schema, example };
}

/** The body of a request that has nothing else to say. */
const tokenSchema: JsonSchema = named("Token", {
  type: "object",
  properties: {
    [accessTokenField]: {
      type: "string",
      description: "The token, where it is not given as Bearer header or query parameter",
    },
  },
});

function responsesOf(
  route: Route,
  { components, isReferredTo }: { readonly components: Components; readonly isReferredTo: boolean },
): JsonSchema {
  const responses: Record<string, unknown> = {};
  const answer = route.answer && jsonSchemaOf(route.answer, "output");
  for (const [text, response] of Object.entries(route.responses)) {
    const status = Number(text);
    const { description, headers = {} } = response;
    const schema = response.schema ?? (hasAnswer(status) ? answer : undefined);
    const problem = status >= 400 ? problemContent(status) : undefined;
    const content = schema
      ? { "application/json": { ...withExample(schema), schema: components.schema(schema) } }
      : problem;
    const described: Record<string, JsonSchema> = {};
    for (const [name, text] of Object.entries(headers)) {
      described[name] = { description: text, schema: { type: "string" } };
    }
    responses[status] = {
      description,
      ...(Object.keys(described).length > 0 ? { headers: described } : {}),
      ...(content ? { content } : {}),
    };
  }
  const add = (name: RefusalName): void => {
    const { status } = refusals[name];
    responses[status] ??= components.response(name, () => describeRefusal(name));
  };
  if (isReferredTo) add("ReferredTo");
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
  const hasTrash = action === "list" && resource?.softDelete === true;
  return access === "public" && (checksCaller === true || hasTrash);
}

const conditions: readonly JsonSchema[] = ["If-Match", "If-None-Match"].map((name) => ({
  name,
  in: "header",
  description: "Entity tags of the document (RFC 9110 section 13.1)",
  schema: { type: "string" },
}));

const idempotencyKey: JsonSchema = {
  name: "Idempotency-Key",
  in: "header",
  description: "Makes repetitions of this request one effect, and answers them as the first one",
  schema: { type: "string", minLength: 1, maxLength: 255 },
  example: "5f0c9a52-8f0a-4d9a-9a3c-0f6d4f1f2f11",
};

/** Whether a status has the body that `answer` describes. */
function hasAnswer(status: number): boolean {
  return status >= 200 && status < 300 && status !== 204 && status !== 205;
}

const securitySchemes: JsonSchema = {
  token: {
    type: "http",
    scheme: "bearer",
    bearerFormat: "JWT",
    description: "Token of POST /auth",
  },
  tokenInQuery: { type: "apiKey", in: "query", name: accessTokenField },
  masterKey: { type: "http", scheme: "bearer", description: "MASTER_KEY of the environment file" },
  masterKeyInQuery: { type: "apiKey", in: "query", name: accessTokenField },
  password: { type: "http", scheme: "basic", description: "Email and password of a user" },
};

const byToken = [{ token: [] }, { tokenInQuery: [] }];

const security: Readonly<Record<AccessRule, readonly JsonSchema[]>> = {
  public: [],
  user: byToken,
  admin: byToken,
  master: [{ masterKey: [] }, { masterKeyInQuery: [] }],
  password: [{ password: [] }],
  // An Authorization header holds one scheme, so the key goes into the query or, as a field, into the body.
  "master+password": [{ masterKeyInQuery: [], password: [] }, { password: [] }],
};
