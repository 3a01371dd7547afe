import { InvalidResponseError, OAuth2Error, type ResponseData } from "../errors.ts";
import { inspectAsJson } from "../inspect-as-json.ts";
import { parseBody, type ParserChoice } from "./parse-body.ts";
import { isSecretHeader, redactText, secretsOfRequest } from "../log/redact.ts";
import { processSettings } from "../process-settings.ts";
import { isHash, type SnakyHash, type SnakyHashMaker, toSnakyHash } from "../snaky-hash.ts";

/** How a response is read; part of the options of every request. */
export interface ParseOptions {
  /** Parser of the body: a name or a function. Default: by the media type. */
  readonly parse?: ParserChoice | false | null | undefined;
  /** Whether keys become snake case. Default: true. */
  readonly snaky?: boolean | undefined;
  /** Makes the objects. Default: that of `configure` of `@fetchwork/oauth2/compat`. */
  readonly snakyHashClass?: SnakyHashMaker | undefined;
}

/** Names of the options, for those of requests. */
export const parseOptionNames: readonly (keyof ParseOptions)[] = [
  "parse",
  "snaky",
  "snakyHashClass",
];

/** Parts of an {@link OAuth2Response}. */
export interface OAuth2ResponseInit extends ParseOptions {
  readonly status: number;
  readonly headers: Headers;
  /** The body; text counts as UTF-8. */
  readonly body: Uint8Array | string;
  /** URL that responded, after redirects. */
  readonly url: string;
  /** Values of the request that are never shown where the response repeats them. Default: none. */
  readonly secrets?: readonly string[] | undefined;
  /** Headers of the request; those with credentials are not shown either. Default: none. */
  readonly requestHeaders?: Headers | undefined;
}

const decoder = new TextDecoder();

/** A response, read completely. */
export class OAuth2Response implements ResponseData {
  static {
    inspectAsJson(this.prototype);
  }

  readonly status: number;
  readonly headers: Headers;
  /** URL that responded, after redirects. */
  readonly url: string;
  readonly #content: Uint8Array | string;
  readonly #options: OAuth2ResponseInit;
  #body: string | undefined;
  #parsed: { readonly value: unknown } | undefined;
  #error: OAuth2Error | undefined;

  constructor(init: OAuth2ResponseInit) {
    this.status = init.status;
    this.headers = init.headers;
    this.url = init.url;
    this.#content = init.body;
    this.#options = init;
  }

  /** The body as text, decoded as UTF-8, without a byte order mark. */
  get body(): string {
    return (this.#body ??=
      typeof this.#content === "string" ? this.#content : decoder.decode(this.#content));
  }

  /** The body as it came. */
  get bytes(): Uint8Array {
    return typeof this.#content === "string"
      ? new TextEncoder().encode(this.#content)
      : this.#content;
  }

  /** Media type in lower case, without parameters; empty when there is none. */
  get contentType(): string {
    const value = this.headers.get("content-type") ?? "";
    return (value.split(";", 1)[0] ?? "").trim().toLowerCase();
  }

  /**
   * The body as a value: a form or JSON object is an object with snake_case keys; with
   * `snaky: false` it is a plain object with the keys of the provider. Other JSON is what it is,
   * anything else the text. Made once, when it is first asked for.
   *
   * @throws InvalidResponseError when the media type is JSON but the body is not; with a status of
   * 400 or more it is the text
   */
  get parsed(): unknown {
    return (this.#parsed ??= { value: this.#parse() }).value;
  }

  /** {@link OAuth2Response.parsed} if it is an object. */
  get hash(): SnakyHash | undefined {
    const { parsed } = this;
    return isHash(parsed) ? parsed : undefined;
  }

  /** The error that this response is: with a status of 400 or more; `undefined` otherwise. */
  get error(): OAuth2Error | undefined {
    if (this.status < 400) return undefined;
    return (this.#error ??= errorOf(this));
  }

  #parse(): unknown {
    const {
      snaky = true,
      snakyHashClass = processSettings().snakyHashClass,
      parse,
    } = this.#options;
    const value = parseBody(this, parse);
    if (!isHash(value)) return value;
    if (!snaky) return value;
    try {
      return snakyHashClass === undefined ? toSnakyHash(value) : snakyHashClass.from(value);
    } catch (error) {
      // Nested too deeply: then it stays text like any other unreadable body.
      if (error instanceof InvalidResponseError) return this.body;
      throw error;
    }
  }

  toJSON(): unknown {
    const headers: Record<string, string> = {};
    for (const [name, value] of this.headers) {
      headers[name] = isSecretHeader(name) ? processSettings().filteredLabel : this.redact(value);
    }
    const { status, url, body } = this;
    return { status, url: this.redact(url), headers, body: this.redact(body) };
  }

  /** Replaces secrets in text about this response, including those of its request. */
  redact(text: string): string {
    const { secrets = [], requestHeaders } = this.#options;
    return redactText(text, [...secrets, ...secretsOfRequest(this.url, requestHeaders)]);
  }
}

/** Makes the error of a response, whatever its status (RFC 6749, 5.2). */
export function errorOf(response: OAuth2Response): OAuth2Error {
  return errorOfFields(response.hash ?? {}, response);
}

/** Makes the error that the fields of a response or callback describe. */
export function errorOfFields(
  fields: Readonly<Record<string, unknown>>,
  response?: OAuth2Response,
): OAuth2Error {
  const { error } = fields;
  const code = text(error);
  const description = text(fields["error_description"] ?? fields["errorDescription"]);
  const uri = text(fields["error_uri"] ?? fields["errorUri"]);
  const shown = (words: string): string =>
    response === undefined ? redactText(words) : response.redact(words);
  // One by one: together they look like a key with its value.
  const about = [code, description]
    .filter((part) => part !== undefined)
    .map(shown)
    .join(": ");
  const status = response === undefined ? "" : `HTTP ${response.status}`;
  const message = about === "" || status === "" ? `${about}${status}` : `${about} (${status})`;
  return new OAuth2Error(message, { code: code && shown(code), description, uri, response });
}

function text(value: unknown): string | undefined {
  if (typeof value === "number") return String(value);
  return typeof value === "string" && value !== "" ? value : undefined;
}
