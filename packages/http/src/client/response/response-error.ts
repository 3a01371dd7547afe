import { HttpError } from "../../errors.ts";
import { redactUrl } from "../transport/redact-url.ts";
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
    const text = messageOf(response.body) || "no body";
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

const longest = 1000;

/** A message is one bounded piece of printable text, whatever a server sends. */
function messageOf(body: string): string {
  const start = body.length > longest ? `${body.slice(0, longest)}…` : body;
  // oxlint-disable no-control-regex -- these are what is replaced
  return start
    .replace(/[\0-\x1f\x7f-\x9f\u2028\u2029]+/g, " ")
    .trim()
    .toWellFormed();
}
