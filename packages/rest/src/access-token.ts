import { fieldError } from "./field-error.ts";
import { badFields } from "./problem.ts";

/** Query parameter and body field that may carry a token (RFC 6750, 2.2 and 2.3). */
export const accessTokenField = "access_token";

/** Proof in a request of who its caller is. */
export interface Credentials {
  readonly authorization: string | null;
  /** Values of the query parameter `access_token`. */
  readonly queryTokens: readonly string[];
  /** Value of the body field `access_token`. */
  readonly bodyToken: unknown;
  /** Address of the client, for what limits attempts. Default: none is known. */
  readonly address?: string | undefined;
  /** Scope of the route, for limited keys: `articles:read`. Default: no limited key works. */
  readonly scope?: string | undefined;
  /** Whether also a rule for everyone refuses a key without it. Default: the key is left out. */
  readonly needsScope?: boolean | undefined;
  /** The request itself, whose cookies may hold a session. Default: none, and no cookie is read. */
  readonly request?: Request | undefined;
}

/**
 * Finds the one token of a request: Bearer header, query parameter, or field of the body.
 *
 * @throws Problem 400 for a token in two places (RFC 6750 section 2), or one that is not text.
 */
export function findAccessToken(credentials: Credentials): string | undefined {
  const { authorization, queryTokens, bodyToken } = credentials;
  const found: string[] = [];
  const bearer = authorization === null ? undefined : /^bearer +(\S+) *$/i.exec(authorization)?.[1];
  if (bearer !== undefined) found.push(bearer);
  found.push(...queryTokens);
  if (bodyToken !== undefined && bodyToken !== null) {
    if (typeof bodyToken !== "string") {
      const message = `${accessTokenField} must be of type string`;
      throw badFields([fieldError(accessTokenField, "type", message)]);
    }
    found.push(bodyToken);
  }
  if (found.length > 1) {
    const message = `${accessTokenField} must be given in one place only`;
    throw badFields([fieldError(accessTokenField, "once", message)]);
  }
  return found[0] === "" ? undefined : found[0];
}
