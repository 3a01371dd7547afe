import { createRequire } from "node:module";
import type { FormatsPlugin } from "ajv-formats";
import { Ajv2020, type ValidateFunction } from "ajv/dist/2020.js";
import type { JsonSchema, OpenApiDocument } from "@fetchwork/rest";
import type { Operation } from "./operations.ts";
import { type FuzzRequest, isFormValue } from "./requests.ts";

/** A response whose body was read. */
export interface ReadResponse {
  readonly status: number;
  readonly headers: Headers;
  readonly text: string;
}

/** Finds what contradicts an OpenAPI document: the first fault of an exchange, or `undefined`. */
export type Contract = (request: FuzzRequest, response: ReadResponse) => string | undefined;

/**
 * Parameters and fields whose rules no JSON Schema can state: which values are valid depends on
 * more than their form.
 */
const opaque: ReadonlySet<string> = new Set([
  "after",
  "events",
  "fields",
  "link",
  "picture",
  "secret",
  "sort",
  "url",
  "where",
]);

/** Headers that a response must have where they are described. */
const checkedHeaders = ["ETag", "Location", "WWW-Authenticate"];

/** Prepares the check of every exchange against a document. */
export function createContract({ components }: OpenApiDocument): Contract {
  const ajv = new Ajv2020({ strict: false, allErrors: false });
  // Its types describe an ECMAScript module, which it is not.
  const addFormats = createRequire(import.meta.url)("ajv-formats") as FormatsPlugin;
  addFormats(ajv);
  ajv.addSchema(closed({ $id: "openapi", components }) as JsonSchema);
  const compiled = new Map<string, ValidateFunction>();
  const conforms = (schema: JsonSchema, value: unknown): ValidateFunction | undefined => {
    const key = JSON.stringify(schema).replaceAll('"#/components/', '"openapi#/components/');
    const validate = compiled.get(key) ?? ajv.compile(JSON.parse(key) as JsonSchema);
    compiled.set(key, validate);
    return validate(value) ? undefined : validate;
  };
  const problem = { $ref: "openapi#/components/schemas/Problem" };

  return (request, response) =>
    faultOfResponse(request, response) ?? faultOfRefusal(request, response);

  function faultOfResponse(
    { method, operation }: FuzzRequest,
    { headers, status, text }: ReadResponse,
  ): string | undefined {
    if (status >= 500) return `has the status ${status}`;
    const type = headers.get("content-type")?.split(";")[0] ?? "";
    if (operation === undefined) {
      if (method === "OPTIONS" && status === 204) return undefined;
      if (status !== 404 && status !== 405 && status !== 400) return `has the status ${status}`;
      return type === "application/problem+json" ? mismatch(problem, text) : `has the type ${type}`;
    }
    const described = operation.responses[status];
    if (described === undefined) return `has the undeclared status ${status}`;
    const lacking = checkedHeaders.find((name) => described.headers?.[name] && !headers.has(name));
    if (lacking !== undefined) return `${status} lacks the header ${lacking}`;
    if (text === "") {
      const isEmpty = described.content === undefined || status === 304;
      return isEmpty ? undefined : `${status} lacks a body`;
    }
    const schema = described.content?.[type]?.schema;
    if (schema === undefined) return `${status} has the undeclared type ${type}`;
    return mismatch(closed(schema) as JsonSchema, text, status);
  }

  function mismatch(schema: JsonSchema, text: string, status?: number): string | undefined {
    let value: unknown;
    try {
      value = JSON.parse(text);
    } catch {
      return `${status} has a body that is not JSON`;
    }
    const failed = conforms(schema, value);
    return failed && `${status} has a body that does not match: ${ajv.errorsText(failed.errors)}`;
  }

  /** What the document declares valid must not be refused for its form. */
  function faultOfRefusal(
    request: FuzzRequest,
    { status, text }: ReadResponse,
  ): string | undefined {
    if (request.operation === undefined) return undefined;
    const reason = invalidity(request);
    if (request.isValid && reason !== undefined)
      return `was made as a valid request, but ${reason}`;
    if (status !== 400 || reason !== undefined) return undefined;
    const { errors = [] } = JSON.parse(text) as {
      readonly errors?: readonly { readonly name: string; readonly param: string }[];
    };
    const isOpaque =
      errors.length > 0 &&
      errors.every(
        // That two parameters exclude one another is nothing that OpenAPI can state.
        ({ name, param }) => name === "mixed" || opaque.has(param.split(".")[0] ?? ""),
      );
    return isOpaque && !request.isValid
      ? undefined
      : `refuses with 400 what is declared valid: ${text}`;
  }

  /** Why a request does not conform to the document. */
  function invalidity(request: FuzzRequest): string | undefined {
    const { operation, fields, headers, isTwiceAuthenticated, params, query, raw, type } = request;
    const isBroken = request.rawQuery !== "" || Object.keys(request.rawParams).length > 0;
    if (operation === undefined || isBroken) return "its address is broken";
    if (raw !== undefined) return "its body is broken";
    if (isTwiceAuthenticated || Object.hasOwn(fields ?? {}, "access_token"))
      return "it has two tokens";
    const all = [params, query, fields, headers];
    if (/\0|\\u0000|\\ud[89a-f]/i.test(JSON.stringify(all))) return "it has text that is not kept";
    const known = operation.parameters;
    const names = query.map(([name]) => name);
    if (new Set(names).size < names.length) return "a parameter is repeated";
    for (const [name, value] of query) {
      if (name === "access_token") continue;
      const described = known.find((one) => one.in === "query" && one.name === name);
      if (!described || conforms(described.schema, asDescribed(described.schema, value))) {
        return `the parameter ${name} is invalid`;
      }
    }
    const key = headers["idempotency-key"];
    if (key !== undefined && !/^[!#-~]{1,255}$/.test(key)) return "the key is invalid";
    if (headers["content-encoding"] !== undefined) return "it is compressed";
    return bodyFault(operation, { fields, type });
  }

  function bodyFault(
    operation: Operation,
    { fields, type }: Pick<FuzzRequest, "fields" | "type">,
  ): string | undefined {
    if (type === undefined) return operation.isBodyRequired ? "it has no body" : undefined;
    const schema = operation.bodies[type]?.schema;
    if (schema === undefined) return `the type ${type} is not declared`;
    if (fields === undefined) return operation.isBodyRequired ? "it has no body" : undefined;
    const isForm = !type.endsWith("json");
    if (isForm && !Object.values(fields).every(isFormValue)) return "a form has no objects";
    const failed = conforms(schema, fields) ?? conforms(schema, trimmed(fields));
    return failed && `its body does not match: ${ajv.errorsText(failed.errors)}`;
  }
}

/** A value of the query as its schema has it. */
function asDescribed({ type }: JsonSchema, value: string): unknown {
  return type === "integer" && /^-?\d+$/.test(value) ? Number(value) : value;
}

/**
 * Fields as they are after the API has removed blanks around texts, which no JSON Schema states.
 */
function trimmed(value: unknown): unknown {
  return JSON.parse(JSON.stringify(value), (_, one: unknown) =>
    typeof one === "string" ? one.trim() : one,
  );
}

/**
 * Refuses what a schema of an object does not name, unless it says something about further members.
 */
function closed(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(closed);
  if (typeof value !== "object" || value === null) return value;
  const members = Object.fromEntries(
    Object.entries(value).map(([name, one]) => [name, closed(one)]),
  );
  const isOpen = "properties" in value && !("additionalProperties" in value) && "type" in value;
  return isOpen && value.type === "object" ? { ...members, additionalProperties: false } : members;
}
