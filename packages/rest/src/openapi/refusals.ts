import type { RouteResponse } from "../plan/route.ts";
import { titleOf } from "../problem.ts";
import type { JsonSchema } from "../schema.ts";

/** Description of a refusal. */
interface Refusal extends RouteResponse {
  /** `default` stands for every status that is not described. */
  readonly status: number | "default";
}

/** Name of a refusal in the document. */
export type RefusalName =
  | "ReferredTo"
  | "BadRequest"
  | "VersionMismatch"
  | "Unauthenticated"
  | "Forbidden"
  | "TooManyAttempts"
  | "PasswordsBusy"
  | "KeyInUse"
  | "KeyOfAnotherRequest"
  | "BodyTooLarge"
  | "UnsupportedMediaType"
  | "Failure";

const retryAfter = { "Retry-After": "Seconds until the next attempt" };

/** Refusals that follow from access and validation, by their names in the document. */
export const refusals: Readonly<Record<RefusalName, Refusal>> = {
  ReferredTo: { status: 409, description: "Other documents refer to it" },
  BadRequest: { status: 400, description: "A field, a parameter or the body is invalid" },
  VersionMismatch: {
    status: 412,
    description: "The document has another version than `If-Match` names",
    headers: { ETag: "Version of the document" },
  },
  Unauthenticated: {
    status: 401,
    description: "Credentials are missing or invalid",
    headers: { "WWW-Authenticate": "Schemes of credentials that are accepted" },
  },
  Forbidden: { status: 403, description: "The caller is not allowed to do this" },
  TooManyAttempts: {
    status: 429,
    description: "Too many wrong passwords for this account",
    headers: retryAfter,
  },
  PasswordsBusy: {
    status: 503,
    description: "Too many passwords are being checked",
    headers: retryAfter,
  },
  KeyInUse: {
    status: 409,
    description: "A request with this Idempotency-Key is running",
    headers: retryAfter,
  },
  KeyOfAnotherRequest: {
    status: 422,
    description: "The Idempotency-Key was used for another request",
  },
  BodyTooLarge: { status: 413, description: "The body is too large" },
  UnsupportedMediaType: { status: 415, description: "The media type of the body is not supported" },
  Failure: { status: "default", description: "The server failed" },
};

/** Describes a response with its headers, and with its body if it has one. */
export function describeResponse(
  { description, headers = {} }: RouteResponse,
  content?: JsonSchema,
): JsonSchema {
  const described = Object.entries(headers).map(([name, text]): [string, JsonSchema] => [
    name,
    { description: text, schema: { type: "string" } },
  ]);
  return {
    description,
    ...(described.length > 0 ? { headers: Object.fromEntries(described) } : {}),
    ...(content ? { content } : {}),
  };
}

/** Describes the body of an error. */
export function problemContent(status: number): JsonSchema {
  const schema = { $ref: "#/components/schemas/Problem" };
  const title = titleOf(status);
  const example = { type: "about:blank", title, status, detail: title, message: title };
  return { "application/problem+json": { schema, example } };
}

const fieldErrorProperties = {
  valid: { const: false },
  param: { type: "string", description: "Invalid field or parameter" },
  name: { type: "string", description: "Rule that it violates" },
  message: { type: "string" },
  index: { type: "integer", minimum: 0, description: "Position of the item in a bulk request" },
};

/** The body of every error. */
export const problemSchema: JsonSchema = {
  type: "object",
  description: "An error (RFC 9457)",
  properties: {
    type: { type: "string" },
    title: { type: "string" },
    status: { type: "integer" },
    detail: { type: "string" },
    ...fieldErrorProperties,
    errors: {
      type: "array",
      items: {
        type: "object",
        properties: fieldErrorProperties,
        required: ["valid", "param", "name", "message"],
      },
    },
  },
  required: ["type", "title", "status", "detail", "message"],
};
