import { isJsonType } from "./media-types.ts";
import type { BodyReaders, BodySchema, TypedResult } from "./operation.ts";
import { EndpointResponseError } from "./response-error.ts";

/** How to read a response, where the call asks for it. */
export interface ReadOptions {
  readonly schema: BodySchema<unknown> | undefined;
  readonly parseAs: keyof BodyReaders | undefined;
}

/** Reads a response by its media type, and checks its data where asked. */
export async function readResponse(
  response: Response,
  { schema, parseAs }: ReadOptions,
): Promise<TypedResult<{ responses: object }>> {
  const { status, ok } = response;
  if (!ok) return { ok, status, error: await readBody(response), response };
  const data = await readBody(response, parseAs);
  const result = (await schema?.["~standard"].validate(data)) ?? { value: data };
  if (result.issues !== undefined) throw new EndpointResponseError(status, result.issues);
  return { ok, status, data: result.value, response };
}

async function readBody(response: Response, asked?: keyof BodyReaders): Promise<unknown> {
  const type = response.headers.get("content-type") ?? "text/plain";
  const reader = asked ?? (isJsonType(type) ? "json" : /^text\//i.test(type) ? "text" : "blob");
  if (reader === "stream") return response.body;
  if (reader === "arrayBuffer") return response.arrayBuffer();
  if (reader === "blob") {
    const blob = await response.blob();
    return asked === undefined && blob.size === 0 ? undefined : blob;
  }
  const text = await response.text();
  if (asked === "text" || text === "") return asked === "text" ? text : undefined;
  if (reader === "text") return text;
  try {
    return JSON.parse(text);
  } catch {
    // The error of the platform quotes the body.
    if (response.ok) throw new EndpointResponseError(response.status);
    return text;
  }
}
