import { fieldError } from "./field-error.ts";
import { badFields } from "./problem.ts";

/** Name of the query parameter and of the body field that may carry a token (RFC 6750 sections 2.2 and 2.3). */
export const accessTokenField = "access_token";

/** Places of one request in which a token may stand. */
export interface TokenPlaces {
  readonly authorization: string | null;
  readonly query: readonly string[];
  readonly body: unknown;
}

/**
 * Finds the one token of a request: Bearer header, query parameter, or field of the body.
 *
 * @throws Problem 400 for a token in two places (RFC 6750 section 2), or one that is not text.
 */
export function findAccessToken(places: TokenPlaces): string | undefined {
  const { authorization, query, body } = places;
  const found: string[] = [];
  const bearer = authorization === null ? undefined : /^bearer +(\S+) *$/i.exec(authorization)?.[1];
  if (bearer !== undefined) found.push(bearer);
  found.push(...query);
  if (body !== undefined && body !== null) {
    if (typeof body !== "string") {
      throw badFields([
        fieldError(accessTokenField, "type", `${accessTokenField} must be of type string`),
      ]);
    }
    found.push(body);
  }
  if (found.length > 1) {
    throw badFields([
      fieldError(accessTokenField, "once", `${accessTokenField} must be given in one place only`),
    ]);
  }
  return found[0] === "" ? undefined : found[0];
}
