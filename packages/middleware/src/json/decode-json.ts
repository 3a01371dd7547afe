import type { SchemaIssue, StandardSchema } from "@fetchwork/kit";
import { checkAmount, checkOptions } from "../check-options.ts";
import { RequestError } from "../errors.ts";
import { readBody } from "../body/read-body.ts";

/** Options of {@link decodeJSON}. */
export interface DecodeJSONOptions {
  /** Largest body, in bytes. Default: `1_048_576`. */
  readonly limit?: number | undefined;
}

/** {@link DecodeJSONOptions} with a schema. */
interface DecodeJSONSchemaOptions<Output> extends DecodeJSONOptions {
  /** Validates the value and determines its type. Default: none, and the value is `unknown`. */
  readonly schema: StandardSchema<unknown, Output>;
}

/** A body that its schema does not accept; status 422. */
export class InvalidBodyError extends RequestError {
  override readonly name: string = "InvalidBodyError";
  /** Faults that the schema found. */
  readonly issues: readonly SchemaIssue[];

  constructor(issues: readonly SchemaIssue[]) {
    const count = issues.length === 1 ? "one issue" : `${issues.length} issues`;
    super("ERR_MIDDLEWARE_BODY_INVALID", 422, `decode json: the body has ${count}`);
    this.issues = issues;
  }
}

/**
 * Reads a body as one JSON value, in UTF-8. Refuses `__proto__`, and `constructor` with a
 * `prototype`: such keys could change the prototype of an object which later code merges the value
 * into. `Content-Type` is not looked at.
 *
 * @example
 * ```ts
 * const handler: Handler = async (request) => {
 *   const { title } = await decodeJSON(request, { schema: articleSchema });
 *   return encodeJSON(201, { title });
 * };
 * ```
 * @throws RequestError `ERR_MIDDLEWARE_BODY_INVALID` with status 400 when the body is invalid JSON
 * or cannot be read
 * @throws RequestError `ERR_MIDDLEWARE_BODY_TOO_LARGE` with status 413
 * @throws InvalidBodyError `ERR_MIDDLEWARE_BODY_INVALID` with status 422 when the schema does not
 * accept the value
 * @throws MiddlewareError `ERR_MIDDLEWARE_BODY_USED` when the body was read before
 */
export function decodeJSON<Output>(
  message: Request | Response,
  options: DecodeJSONSchemaOptions<Output>,
): Promise<Output>;
export function decodeJSON(
  message: Request | Response,
  options?: DecodeJSONOptions,
): Promise<unknown>;
export async function decodeJSON(
  message: Request | Response,
  options: DecodeJSONOptions & { readonly schema?: StandardSchema<unknown> } = {},
): Promise<unknown> {
  checkOptions("decodeJSON", options, ["limit", "schema"]);
  const { limit = 1_048_576, schema } = options;
  checkAmount(limit, "limit", 0);
  const body = await readBody(message, limit);
  if ("failure" in body) {
    throw body.failure === "too large"
      ? new RequestError(
          "ERR_MIDDLEWARE_BODY_TOO_LARGE",
          413,
          `decode json: the body is larger than ${limit} bytes`,
        )
      : invalid("the body cannot be read", body.cause);
  }
  const value = parse(body.bytes);
  if (schema === undefined) return value;
  const result = await schema["~standard"].validate(value);
  if (result.issues !== undefined) throw new InvalidBodyError(result.issues);
  return result.value;
}

function parse(bytes: Uint8Array): unknown {
  let text: string;
  let value: unknown;
  try {
    text = new TextDecoder("utf-8", { fatal: true }).decode(bytes);
  } catch (error) {
    throw invalid("the body is not UTF-8", error);
  }
  try {
    value = JSON.parse(text);
  } catch {
    // The platform's message quotes the body, which may hold secrets.
    throw invalid(text.trim() === "" ? "the body is empty" : "the body is not JSON");
  }
  if (/__proto__|constructor|\\u/.test(text)) refusePrototypeKeys(value);
  return value;
}

function refusePrototypeKeys(root: unknown): void {
  const pending = [root];
  while (pending.length > 0) {
    const value = pending.pop();
    if (typeof value !== "object" || value === null) continue;
    for (const [key, inner] of Object.entries(value)) {
      if (key === "__proto__") throw invalid("the body has the key __proto__");
      if (key === "constructor" && hasPrototypeKey(inner)) {
        throw invalid("the body has the key constructor.prototype");
      }
      pending.push(inner);
    }
  }
}

function hasPrototypeKey(value: unknown): boolean {
  return typeof value === "object" && value !== null && Object.hasOwn(value, "prototype");
}

function invalid(what: string, cause?: unknown): RequestError {
  const options = cause === undefined ? {} : { cause };
  return new RequestError("ERR_MIDDLEWARE_BODY_INVALID", 400, `decode json: ${what}`, options);
}
