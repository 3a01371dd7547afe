import { AccessToken } from "./access-token.ts";
import type { OAuth2Client } from "./client.ts";
import { InvalidResponseError } from "./errors.ts";
import { errorOf, type OAuth2Response } from "./response.ts";
import type { TokenOptions } from "./token-options.ts";

/**
 * Makes a token of the answer of a token endpoint (RFC 6749, 5.1).
 *
 * @throws OAuth2Error when it is an error, InvalidResponseError when it has no usable token
 */
export function readTokenResponse(
  client: OAuth2Client,
  response: OAuth2Response,
  options: TokenOptions,
): AccessToken {
  if (response.error !== undefined) throw response.error;
  const { fields } = response;
  if (fields === undefined || isEmpty(fields)) {
    throw new InvalidResponseError(
      `the answer of the token endpoint is no hash (HTTP ${response.status})`,
      {
        response,
      },
    );
  }
  // Some servers send errors with a status of 200.
  if (["string", "number"].includes(typeof fields["error"])) throw errorOf(response);
  return AccessToken.fromFields(client, fields, options, response);
}

function isEmpty(fields: Readonly<Record<string, unknown>>): boolean {
  for (const name in fields) if (Object.hasOwn(fields, name)) return false;
  return true;
}
