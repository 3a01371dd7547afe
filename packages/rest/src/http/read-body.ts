import {
  BodyBudgetError,
  BodyTooLargeError,
  isObject,
  readBody as readBytes,
} from "@fetchwork/kit";
import { bareFields } from "../bare-fields.ts";
import { fieldError } from "../field-error.ts";
import { queryMediaType } from "../plan/route.ts";
import { badFields, Problem } from "../problem.ts";
import { refuseHostileFields } from "./hostile-text.ts";

/** Content of a request's body. */
export interface Body {
  /** Fields by name, in an object without prototype. */
  readonly fields: Readonly<Record<string, unknown>>;
  /** Whether the values are texts of a form, to be converted to what the schema expects. */
  readonly isForm: boolean;
}

const nothing: Body = { fields: Object.freeze(bareFields()), isForm: false };

/** Characters of a name that a refusal repeats. */
const maxNameLength = 64;

/** Media types that {@link readBody} understands. */
export const mediaTypes = [
  "application/json",
  "application/merge-patch+json",
  "application/x-www-form-urlencoded",
  "multipart/form-data",
] as const;

/**
 * Reads the whole body of a request as fields, at once where there is none.
 *
 * @throws Problem 413 beyond `limit` bytes, 415 for another media type, 400 for a body that is not
 * what its type says, and for a QUERY without `Content-Type` (RFC 10008 section 2).
 */
export function readBody(request: Request, limit: number): Body | Promise<Body> {
  const { method, headers } = request;
  if (method === "GET" || method === "HEAD") return nothing;
  const declared = headers.get("content-length");
  const isQuery = method === "QUERY";
  if (!isQuery && (declared === "0" || (declared === null && request.body === null)))
    return nothing;
  return readSent(request, { declared, limit });
}

async function readSent(
  request: Request,
  { declared, limit }: { readonly declared: string | null; readonly limit: number },
): Promise<Body> {
  const { headers } = request;
  if (declared !== null && Number(declared) > limit) throw tooLarge(limit);
  const coding = headers.get("content-encoding");
  if (coding !== null && coding.trim().toLowerCase() !== "identity") {
    throw new Problem(415, {
      detail: "the body must not be compressed",
      headers: { "accept-encoding": "identity" },
    });
  }

  const contentType = headers.get("content-type");
  const [type, ...parameters] = (contentType ?? "")
    .toLowerCase()
    .split(";")
    .map((part) => part.trim());
  const charset = parameters.find((parameter) => parameter.startsWith("charset="));
  if (charset !== undefined && !/^charset="?utf-?8"?$/.test(charset)) {
    throw new Problem(415, { detail: "the body must be in UTF-8" });
  }
  const isQuery = request.method === "QUERY";
  const known: readonly string[] = isQuery ? [queryMediaType] : mediaTypes;
  if (type === undefined || !known.includes(type)) {
    if (isQuery) throw unsupportedQuery(contentType);
    if (contentType === null && declared === null) return emptyOrUnsupported(request, limit);
    throw unsupported();
  }
  const bytes = await bytesOf(request, limit);
  // Many clients always send a content type; that of a query must be that of its content.
  if (!isQuery && bytes.length === 0) return nothing;
  if (type === "multipart/form-data") return multipart(bytes, contentType ?? "");
  const text = decode(bytes);
  return type === "application/x-www-form-urlencoded" ? form(text) : jsonObject(text);
}

/** Escapes of U+0000 and of surrogates, which JSON in UTF-8 cannot hold otherwise. */
const hostileEscape = /\\u(?:0000|d[89a-f])/i;

/** `Request.text` replaces invalid UTF-8 by U+FFFD, which would make different texts equal. */
function decode(bytes: Uint8Array): string {
  try {
    return new TextDecoder("utf-8", { fatal: true }).decode(bytes);
  } catch {
    throw notUtf8();
  }
}

function form(text: string): Body {
  // Bytes that are percent-encoded would become U+FFFD too.
  if (/%[89a-f]/i.test(text)) {
    for (const [encoded] of text.matchAll(/(?:%[0-9a-f]{2})+/gi)) refuseEncoded(encoded);
  }
  return formOf(new URLSearchParams(text));
}

function refuseEncoded(bytes: string): void {
  try {
    decodeURIComponent(bytes);
  } catch {
    throw notUtf8();
  }
}

async function multipart(bytes: Uint8Array<ArrayBuffer>, contentType: string): Promise<Body> {
  let data: FormData;
  try {
    data = await new Response(bytes, { headers: { "content-type": contentType } }).formData();
  } catch {
    throw new Problem(400, { detail: "the body is not valid multipart/form-data" });
  }
  const texts: [string, string][] = [];
  for (const [name, value] of data) {
    if (typeof value !== "string") {
      throw badFields([fieldError(name, "type", `${name} must be text, not a file`)]);
    }
    texts.push([name, value]);
  }
  decode(bytes);
  return formOf(texts);
}

function formOf(entries: Iterable<[string, string]>): Body {
  const fields = collect(entries);
  refuseHostileFields(fields);
  return { fields, isForm: true };
}

function collect(entries: Iterable<[string, string]>): Record<string, unknown> {
  const fields = bareFields();
  for (const [name, value] of entries) {
    // Others read nested values, lists or operators in such names; here they would silently mean
    // nothing.
    if (name === "__proto__" || /[[\]]/.test(name)) throw notAField(name);
    const before = fields[name];
    if (before === undefined) fields[name] = value;
    else if (Array.isArray(before)) before.push(value);
    else fields[name] = [before, value];
  }
  return fields;
}

/**
 * A key `__proto__`, in any spelling that JSON has for it. It can have no honest meaning, and
 * whatever copies fields by assignment takes it for a prototype.
 */
const prototypeKey =
  /"(?:_|\\u005f){2}(?:p|\\u0070)(?:r|\\u0072)(?:o|\\u006f)(?:t|\\u0074)(?:o|\\u006f)(?:_|\\u005f){2}"\s*:/i;

function jsonObject(text: string): Body {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    throw new Problem(400, { detail: "the body is not valid JSON" });
  }
  if (!isObject(value)) throw new Problem(400, { detail: "the body must be a JSON object" });
  if (prototypeKey.test(text)) throw notAField("__proto__");
  const fields = bareFields();
  for (const [name, field] of Object.entries(value)) fields[name] = field;
  if (hostileEscape.test(text)) refuseHostileFields(fields);
  return { fields, isForm: false };
}

function notAField(name: string): Problem {
  const shown = name.slice(0, maxNameLength);
  return badFields([fieldError(shown, "unknown", `${shown} cannot be the name of a field`)]);
}

async function emptyOrUnsupported(request: Request, limit: number): Promise<Body> {
  if ((await bytesOf(request, limit)).length === 0) return nothing;
  throw unsupported();
}

async function bytesOf(request: Request, limit: number): Promise<Uint8Array<ArrayBuffer>> {
  // That is a fault of the program, and none of the client.
  if (request.bodyUsed) throw new TypeError("the body of the request was read before");
  try {
    return await readBytes(request.body, { limit });
  } catch (error) {
    if (error instanceof BodyTooLargeError) throw tooLarge(limit);
    if (error instanceof BodyBudgetError) {
      throw new Problem(503, { detail: error.message, headers: error.headers, cause: error });
    }
    return refuseBroken(error);
  }
}

/** Fails when the client leaves or the server's limit is exceeded: not our fault. */
function refuseBroken(error: unknown): never {
  const isTooLarge = isObject(error) && (error["statusCode"] ?? error["status"]) === 413;
  throw new Problem(isTooLarge ? 413 : 400, { detail: "the body could not be read", cause: error });
}

function notUtf8(): Problem {
  return new Problem(400, { detail: "the body is not valid UTF-8" });
}

function tooLarge(limit: number): Problem {
  return new Problem(413, { detail: `the body is larger than ${limit} bytes` });
}

function unsupportedQuery(contentType: string | null): Problem {
  const headers = { "accept-query": queryMediaType };
  return contentType === null
    ? new Problem(400, { detail: "a QUERY needs the header Content-Type", headers })
    : new Problem(415, {
        detail: `the body of a QUERY must be of type ${queryMediaType}`,
        headers,
      });
}

function unsupported(): Problem {
  return new Problem(415, {
    detail: `the body must be of one of the types ${mediaTypes.join(", ")}`,
    headers: { accept: mediaTypes.join(", ") },
  });
}
