import { isSecretName, type StandardSchema } from "@fetchwork/kit";
import { headerValues, responseHeaders, type ResponseHeaders } from "./response-headers.ts";
import { checkedJson } from "./response-schema.ts";
import type { HeaderList, TransportHead } from "../transport/transport.ts";

/** Status and headers of a response. */
export class ResponseHead {
  static {
    // The form for consoles of Node: no body, and no secrets.
    Object.defineProperty(this.prototype, Symbol.for("nodejs.util.inspect.custom"), {
      value(this: ResponseHead): object {
        return { statusCode: this.statusCode, headers: shownHeaders(this.headers) };
      },
    });
  }

  readonly statusCode: number;
  readonly #list: HeaderList;
  #headers: ResponseHeaders | undefined;

  constructor({ status, headers }: TransportHead) {
    this.statusCode = status;
    this.#list = headers;
  }

  /** Name to list of values; names as in `Content-Type`, looked up in any case. */
  get headers(): ResponseHeaders {
    this.#headers ??= responseHeaders(this.#list);
    return this.#headers;
  }

  /** Values of a header joined with `, `; undefined when there is none. The name in any case. */
  header(name: string): string | undefined {
    const values = headerValues(this.#list, name);
    return values.length === 0 ? undefined : values.join(", ");
  }

  /** Whether the status is 200 to 299. */
  get ok(): boolean {
    return this.statusCode >= 200 && this.statusCode < 300;
  }

  /** Names and values in turn, as received. */
  get headerList(): HeaderList {
    return this.#list;
  }
}

/** A response that was read whole (specification, part C). */
export class RestResponse extends ResponseHead {
  readonly #bytes: Uint8Array;
  #text: string | undefined;

  constructor(response: TransportHead & { readonly body: Uint8Array }) {
    super(response);
    this.#bytes = response.body;
  }

  /** The body as UTF-8 text, without byte order mark; invalid bytes: U+FFFD. See {@link bytes}. */
  get body(): string {
    this.#text ??= decoder.decode(this.#bytes);
    return this.#text;
  }

  /** The received body, decoded. Not a copy. */
  bytes(): Uint8Array {
    return this.#bytes;
  }

  /**
   * The body as JSON. The type is the caller's claim; nothing checks it.
   *
   * @throws SyntaxError
   */
  // oxlint-disable-next-line typescript/no-unnecessary-type-parameters -- shorter than `as` at each call
  json<T = unknown>(): T;
  /**
   * The body as JSON that a schema (Standard Schema, such as of zod) has checked; its type is the
   * schema's.
   *
   * @throws ResponseSchemaError as a rejection, for what is not JSON and for what the schema does
   * not accept
   */
  json<Output>(schema: StandardSchema<unknown, Output>): Promise<Output>;
  json(schema?: StandardSchema<unknown>): unknown {
    if (schema !== undefined) return checkedJson(this.body, schema);
    return JSON.parse(this.body) as unknown;
  }

  /** The three members of the specification. */
  toJSON(): {
    readonly statusCode: number;
    readonly body: string;
    readonly headers: ResponseHeaders;
  } {
    return { statusCode: this.statusCode, body: this.body, headers: this.headers };
  }
}

const decoder = new TextDecoder();

function shownHeaders(headers: ResponseHeaders): Record<string, readonly string[]> {
  return Object.fromEntries(
    Object.entries(headers).map(([name, values]) => [name, isSecretName(name) ? ["***"] : values]),
  );
}

/** Makes a response of what a transport read. */
export function buildResponse(
  response: TransportHead & { readonly body: Uint8Array },
): RestResponse {
  return new RestResponse(response);
}
