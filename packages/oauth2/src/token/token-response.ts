import { AccessToken, type TokenClient } from "./access-token.ts";
import { InvalidResponseError } from "../errors.ts";
import { parseBody, type BodyParser } from "../message/parse-body.ts";
import { errorOf, type OAuth2Response } from "../message/response.ts";
import type { TokenOptions } from "./token-options.ts";

/**
 * Reads the body of a response of a token endpoint by its media type; also a form as `text/plain`
 * and a JSON object without a type, which some servers send.
 */
export const parseTokenBody: BodyParser = (_body, response) => {
  const value = parseBody(response, undefined);
  if (typeof value !== "string") return value;
  const { contentType } = response;
  if (contentType === "text/plain" && /^\s*[^\s=&]+=\S*\s*$/.test(value)) {
    return parseBody(response, "query");
  }
  return contentType === "" && /^\s*\{/.test(value) ? parseBody(response, "json") : value;
};

/**
 * Makes a token from the response of a token endpoint (RFC 6749, 5.1).
 *
 * @throws OAuth2Error when it is an error, InvalidResponseError when it has no usable token
 */
export function readTokenResponse(
  client: TokenClient,
  response: OAuth2Response,
  options: TokenOptions,
): AccessToken {
  if (response.error !== undefined) throw response.error;
  const { hash: fields } = response;
  if (fields === undefined || Object.keys(fields).length === 0) {
    throw new InvalidResponseError(
      `the response of the token endpoint is not a JSON object or form (HTTP ${response.status})`,
      { response },
    );
  }
  // Some servers send errors with a status of 200.
  if (["string", "number"].includes(typeof fields["error"])) throw errorOf(response);
  return AccessToken.fromFields(client, fields, options, response);
}
