import { HttpFailure, invalid } from "./http-failure.ts";
import type { JsonObject } from "./task-agent.ts";

/**
 * Reads a body that is a JSON object, or nothing.
 *
 * @throws HttpFailure 413 beyond the limit, 415 for another type of content, 422 for what is no JSON object
 */
export async function readJson(request: Request, limit: number): Promise<JsonObject> {
  const chunks: Uint8Array[] = [];
  let size = 0;
  if (request.body !== null) {
    for await (const chunk of request.body) {
      size += chunk.byteLength;
      if (size > limit)
        throw new HttpFailure(413, "too_large", `more than ${limit} bytes were sent`);
      chunks.push(chunk);
    }
  }
  if (size === 0) return {};
  const type = request.headers.get("content-type");
  if (type !== null && !/^application\/(?:[\w.+-]+\+)?json\s*(?:;|$)/i.test(type)) {
    throw new HttpFailure(415, "content_type", "application/json is expected");
  }
  let value: unknown;
  try {
    const text = new TextDecoder("utf-8", { fatal: true }).decode(Buffer.concat(chunks));
    value = JSON.parse(text);
  } catch {
    throw invalid("the body is no JSON");
  }
  if (isObject(value)) return value;
  throw invalid("the body is to be a JSON object");
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
  if (input !== null && typeof input !== "string") throw invalid("input is to be a text");
  if (!isObject(additionalInput)) throw invalid("additional_input is to be an object");
  for (const text of [input ?? "", JSON.stringify(additionalInput)]) {
    // No store keeps them.
    if (text.includes("\0") || text.includes("\\u0000") || !text.isWellFormed()) {
      throw invalid("U+0000 and halves of surrogate pairs cannot be kept");
    }
  }
  return { input, additionalInput };
}

function isObject(value: unknown): value is JsonObject {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
