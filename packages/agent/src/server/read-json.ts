import { BodyBudgetError, BodyTooLargeError, isObject, readBody } from "@fetchwork/kit";
import { mayHideItsOrigin } from "./guard.ts";
import { HttpFailure, invalid, saysMoreThan, tooLarge } from "./http-failure.ts";
import type { JsonObject } from "./task-agent.ts";

/** Levels of `additional_input`; stores take less than 200 of a whole document. */
const maxLevels = 100;

/**
 * Reads a body that is a JSON object, or nothing. Its type does not count (`curl -d` says it is a
 * form), unless another origin's page might have sent it: forms send text that is JSON too, but
 * never say so.
 *
 * @throws HttpFailure 413 beyond the limit, 415 for another type of a page that may be foreign, 422
 * for other values than a JSON object
 */
export async function readJson(request: Request, limit: number): Promise<JsonObject> {
  const bytes = await readBytes(request, limit);
  const type = request.headers.get("content-type") ?? "";
  if (bytes.byteLength === 0 && type === "") return {};
  const isJson = /^application\/(?:[\w.+-]+\+)?json\s*(?:;|$)/i.test(type);
  if (!isJson && mayHideItsOrigin(request)) {
    throw new HttpFailure(415, "content_type", "application/json is expected");
  }
  if (bytes.byteLength === 0) return {};
  let value: unknown;
  try {
    const text = new TextDecoder("utf-8", { fatal: true }).decode(bytes);
    value = JSON.parse(text);
  } catch {
    throw invalid("the body must be JSON");
  }
  if (isObject(value)) return value;
  throw invalid("the body must be a JSON object");
}

async function readBytes(request: Request, limit: number): Promise<Uint8Array> {
  const tooLong = `more than ${limit} bytes were sent`;
  if (saysMoreThan(limit, request)) throw tooLarge(tooLong);
  try {
    return await readBody(request.body, { limit });
  } catch (error) {
    if (error instanceof BodyBudgetError) {
      const { message, headers } = error;
      throw new HttpFailure(503, "overloaded", message, { headers, retryable: true });
    }
    // A client that leaves is not a failure of the server.
    throw error instanceof BodyTooLargeError ? tooLarge(tooLong) : invalid("the body broke off");
  }
}

/**
 * The `input` and `additional_input` of a body.
 *
 * @throws HttpFailure 422 where they have other types
 */
export function readInput(body: JsonObject): {
  readonly input: string | null;
  readonly additionalInput: JsonObject;
} {
  const { input = null, additional_input: additionalInput = {} } = body;
  if (input !== null && typeof input !== "string") throw invalid("input must be a string");
  if (!isObject(additionalInput)) throw invalid("additional_input must be an object");
  checkText(input ?? "");
  checkValue(additionalInput);
  return { input, additionalInput };
}

/** Checks what stores do not keep, level by level: a recursion would end with the stack. */
function checkValue(value: JsonObject): void {
  let level: readonly unknown[] = [value];
  for (let depth = 0; level.length > 0; depth += 1) {
    if (depth > maxLevels) {
      throw invalid(`additional_input is nested deeper than ${maxLevels} levels`);
    }
    const inner: unknown[] = [];
    for (const one of level) {
      if (typeof one === "string") checkText(one);
      // `1e400` is a number in JSON, and Infinity once it is read.
      if (one === Infinity || one === -Infinity) throw invalid("a number is too large");
      if (typeof one !== "object" || one === null) continue;
      for (const [name, entry] of Object.entries(one)) {
        if (!Array.isArray(one)) checkText(name);
        inner.push(entry);
      }
    }
    level = inner;
  }
}

function checkText(text: string): void {
  if (!text.includes("\0") && text.isWellFormed()) return;
  throw invalid("U+0000 and halves of surrogate pairs cannot be kept");
}
