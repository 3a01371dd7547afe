import { HttpUsageError } from "../../errors.ts";

/** A body that can be sent again, or a stream, which cannot. */
export type EncodedBody = string | Uint8Array | Blob | ReadableStream<Uint8Array>;

/** A body and the content type that comes with it. */
export interface TypedBody {
  readonly body: EncodedBody;
  readonly type: string;
}

const json = "application/json";
const binary = "application/octet-stream";

/**
 * Makes what a transport sends of what a caller gave; undefined for no body.
 *
 * @param givesNull - Whether `null` is a JSON value rather than no body.
 * @throws HttpUsageError `ERR_HTTP_JSON` for what has no JSON form, `ERR_HTTP_BODY` for a stream
 * that is in use
 */
export function encodeBody(
  given: unknown,
  { sendsNull }: { readonly sendsNull: boolean },
): TypedBody | undefined {
  if (given === undefined || given === "") return undefined;
  if (typeof given === "string") return { body: given, type: json };
  if (given === null) return sendsNull ? { body: "null", type: json } : undefined;
  if (typeof given !== "object") return { body: jsonText(given), type: json };
  if (given instanceof Uint8Array) return ofBytes(given);
  // Data is by far the most common; everything else below has a tag or can be iterated
  // asynchronously.
  if (!(Symbol.toStringTag in given) && !(Symbol.asyncIterator in given)) {
    return { body: jsonText(given), type: json };
  }
  return encodeObject(given);
}

function encodeObject(given: object): TypedBody | undefined {
  if (ArrayBuffer.isView(given)) {
    return ofBytes(new Uint8Array(given.buffer, given.byteOffset, given.byteLength));
  }
  if (given instanceof ArrayBuffer) return ofBytes(new Uint8Array(given));
  if (given instanceof URLSearchParams) {
    const type = "application/x-www-form-urlencoded;charset=UTF-8";
    const text = given.toString();
    return text === "" ? undefined : { body: text, type };
  }
  if (given instanceof FormData) {
    const body = multipartBody(given);
    return { body, type: body.type };
  }
  if (given instanceof Blob) {
    if (given.size === 0) return undefined;
    return { body: given, type: given.type === "" ? binary : given.type };
  }
  if (given instanceof ReadableStream) {
    if (given.locked) {
      throw new HttpUsageError("ERR_HTTP_BODY", "the body's stream is already being read");
    }
    return { body: given, type: binary };
  }
  if (isAsyncIterable(given)) return { body: streamOf(given), type: binary };
  return { body: jsonText(given), type: json };
}

function ofBytes(bytes: Uint8Array): TypedBody | undefined {
  return bytes.byteLength === 0 ? undefined : { body: bytes, type: json };
}

function jsonText(value: unknown): string {
  let text: string | undefined;
  try {
    text = JSON.stringify(value);
  } catch (cause) {
    throw new HttpUsageError("ERR_HTTP_JSON", "the body cannot be written as JSON", { cause });
  }
  if (text === undefined) {
    throw new HttpUsageError("ERR_HTTP_JSON", `a body of type ${typeof value} has no JSON form`);
  }
  return text;
}

function isAsyncIterable(value: object): value is AsyncIterable<unknown> {
  return Symbol.asyncIterator in value && typeof value[Symbol.asyncIterator] === "function";
}

/** `ReadableStream.from` of bytes and text, for all platforms; reads on request. */
function streamOf(source: AsyncIterable<unknown>): ReadableStream<Uint8Array> {
  const iterator = source[Symbol.asyncIterator]();
  const encoder = new TextEncoder();
  return new ReadableStream<Uint8Array>(
    {
      async pull(controller) {
        const result: IteratorResult<unknown, unknown> = await iterator.next();
        const { value } = result;
        if (result.done === true) controller.close();
        else if (typeof value === "string") controller.enqueue(encoder.encode(value));
        else if (value instanceof Uint8Array) controller.enqueue(value);
        else {
          await iterator.return?.();
          throw new HttpUsageError(
            "ERR_HTTP_BODY",
            "a piece of the body is neither bytes nor text",
          );
        }
      },
      async cancel() {
        await iterator.return?.();
      },
    },
    { highWaterMark: 0 },
  );
}

/** A form as `multipart/form-data` (RFC 7578), read when it is sent: it can be sent again. */
function multipartBody(form: FormData): Blob {
  const boundary = `fetchwork-${crypto.randomUUID()}`;
  const parts: (string | Blob)[] = [];
  for (const [name, value] of form) {
    const head = `--${boundary}\r\nContent-Disposition: form-data; name="${quote(name)}"`;
    if (typeof value === "string") {
      parts.push(`${head}\r\n\r\n${lines(value)}\r\n`);
    } else {
      const type = value.type === "" ? "application/octet-stream" : value.type;
      parts.push(`${head}; filename="${quote(value.name)}"\r\nContent-Type: ${type}\r\n\r\n`);
      parts.push(value, "\r\n");
    }
  }
  parts.push(`--${boundary}--\r\n`);
  return new Blob(parts, { type: `multipart/form-data; boundary=${boundary}` });
}

/** HTML, 4.10.21.8: what would end the name, or its line, is percent-encoded. */
function quote(name: string): string {
  return lines(name).replaceAll("\r\n", "%0D%0A").replaceAll('"', "%22");
}

/** The same: line breaks of text are CRLF. */
function lines(text: string): string {
  return text.replace(/\r\n?|\n/g, "\r\n");
}
