import { titleOf } from "../problem.ts";
import type { JsonSchema } from "../schema.ts";

/** What a refusal says. */
export interface Refusal {
  /** `default` stands for every status that is not described. */
  readonly status: number | "default";
  readonly description: string;
  readonly headers?: readonly string[];
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

/** Refusals that follow from access and validation, by their names in the document. */
export const refusals: Readonly<Record<RefusalName, Refusal>> = {
  ReferredTo: { status: 409, description: "Other documents refer to it" },
  BadRequest: { status: 400, description: "A field, a parameter or the body is refused" },
  VersionMismatch: {
    status: 412,
    description: "The document is of another version",
    headers: ["ETag"],
  },
  Unauthenticated: {
    status: 401,
    description: "Credentials are missing or do not hold",
    headers: ["WWW-Authenticate"],
  },
  Forbidden: { status: 403, description: "The caller may not do this" },
  TooManyAttempts: {
    status: 429,
    description: "Too many wrong passwords for that account",
    headers: ["Retry-After"],
  },
  PasswordsBusy: {
    status: 503,
    description: "Too many passwords to check",
    headers: ["Retry-After"],
  },
  KeyInUse: {
    status: 409,
    description: "A request with this Idempotency-Key is running",
    headers: ["Retry-After"],
  },
  KeyOfAnotherRequest: {
    status: 422,
    description: "The Idempotency-Key belongs to another request",
  },
  BodyTooLarge: { status: 413, description: "The body is too large" },
  UnsupportedMediaType: { status: 415, description: "The body is of another media type" },
  Failure: { status: "default", description: "The server cannot answer now" },
};

/** Describes a refusal, for `components` of the document. */
export function describeRefusal(name: RefusalName): JsonSchema {
  const { status, description, headers = [] } = refusals[name];
  const described = headers.map((header) => [header, { schema: { type: "string" } }] as const);
  return {
    description,
    ...(headers.length > 0 ? { headers: Object.fromEntries<JsonSchema>(described) } : {}),
    content: problemContent(status === "default" ? 500 : status),
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
  param: { type: "string", description: "Field or parameter that is refused" },
  name: { type: "string", description: "Rule that it breaks" },
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
