import { Connection } from "../../connection/connection.ts";
import { optionError } from "../../errors.ts";
import type { Fetch } from "../../connection/fetch.ts";
import { parseJsonRecord, type JsonRecord } from "../../json-record.ts";
import { MetadataError } from "../errors.ts";
import { isHttpUrl, isSecureUrl } from "../../message/secure-url.ts";

/** How documents of a server are fetched: its metadata, its keys. */
export interface DocumentOptions {
  /** Sends requests. Default: the `fetch` of the platform. */
  readonly fetch?: Fetch | undefined;
  /** Time for one document, in milliseconds; 0 means no limit. Default: `30_000`. */
  readonly timeout?: number | undefined;
  /** Largest document, in bytes. Default: `1_048_576`. */
  readonly maxResponseBytes?: number | undefined;
  /**
   * Whether `http` to other machines is allowed, for a network that is protected by other means: an
   * attacker on the connection decides which tokens are accepted. Default: `false`; `http` to this
   * machine always is.
   */
  readonly allowInsecure?: boolean | undefined;
}

/** Names of the options, for those of functions that fetch documents. */
export const documentOptionNames: readonly (keyof DocumentOptions)[] = [
  "fetch",
  "timeout",
  "maxResponseBytes",
  "allowInsecure",
];

/**
 * Fetches one document with GET. Redirects are not followed.
 *
 * @throws MetadataError for a URL that is not secure, for any status but 200, and for a body that
 * is not a JSON object
 * @throws OAuth2ConnectionError, OAuth2TimeoutError, InvalidResponseError
 */
export type DocumentSource = (url: URL, request: DocumentRequest) => Promise<JsonRecord>;

/** One document to fetch. */
export interface DocumentRequest {
  /** Its name in error messages: `the key set`. */
  readonly what: string;
  /** Media types. Default: `application/json`. */
  readonly accept?: string | undefined;
  readonly signal?: AbortSignal | null | undefined;
}

/**
 * Makes a source of documents.
 *
 * @param connection that of a client, which stands for `fetch` and `timeout`
 * @throws OAuth2UsageError `ERR_OAUTH_OPTION`
 */
export function createDocumentSource(
  options: DocumentOptions,
  connection: Connection = new Connection(options),
): DocumentSource {
  const { maxResponseBytes = 1_048_576, allowInsecure = false } = options;
  if (!Number.isSafeInteger(maxResponseBytes) || maxResponseBytes < 1)
    throw optionError("maxResponseBytes", maxResponseBytes, "a whole number of bytes, at least 1");
  const isAllowed = allowInsecure ? isHttpUrl : isSecureUrl;
  return async (url, { what, accept = "application/json", signal }) => {
    if (!isAllowed(url))
      throw new MetadataError(`${what} is at ${url.origin}, which is neither https nor local`);
    const response = await connection.send({
      method: "GET",
      url,
      headers: new Headers({ accept }),
      maxResponseBytes,
      signal,
      snaky: false,
    });
    const { status, body } = response;
    if (status !== 200)
      throw new MetadataError(`${what} responded with ${status}, expected 200`, { response });
    const document = parseJsonRecord(body);
    if (document === undefined) throw new MetadataError(`${what} is not a JSON object`);
    return document;
  };
}
