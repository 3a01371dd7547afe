import { HttpError } from "../../errors.ts";
import { redactUrl } from "../transport/redact-url.ts";
import { printable } from "./response-schema.ts";
import type { RestResponse } from "./rest-response.ts";

/** `ERR_HTTP_REST`: status 400 or more, with `throwOnStatus`. Names status, request and body. */
export class ResponseError extends HttpError {
  override readonly name: string = "ResponseError";
  readonly statusCode: number;
  readonly method: string;
  /** Without credentials, fragment and the values of its query. */
  readonly url: string;
  readonly #response: RestResponse;

  constructor(response: RestResponse, details: { readonly method: string; readonly url: URL }) {
    const { statusCode } = response;
    const url = redactUrl(details.url);
    const text = printable(response.body, 1000) || "no body";
    super("ERR_HTTP_REST", `${statusCode} from ${details.method} ${url}: ${text}`);
    this.statusCode = statusCode;
    this.method = details.method;
    this.url = url;
    this.#response = response;
  }

  /**
   * The response; consoles and loggers that walk over errors do not see it. A streamed one has the
   * first 64 KiB of its body.
   */
  get response(): RestResponse {
    return this.#response;
  }
}
