import { OAuth2Error, type OAuth2ErrorOptions } from "../errors.ts";
import type { Challenge } from "./parse-challenges.ts";

/**
 * A signed token is invalid: an ID token, a logout token, or a signed response of the server. The
 * message shows neither the token nor its secret claims.
 */
export class TokenValidationError extends OAuth2Error {
  override readonly name: string = "TokenValidationError";
  /** Stable; what to test for. */
  override readonly code = "ERR_OAUTH_TOKEN_INVALID";
  /** Claim or header parameter that is wrong; `undefined` when it is the token as a whole. */
  readonly claim: string | undefined;

  constructor(
    message: string,
    { claim, ...options }: ErrorOptions & { readonly claim?: string } = {},
  ) {
    super(message, options);
    this.claim = claim;
  }
}

/** Metadata of a server, a resource or its keys is unusable, or lacks a wanted endpoint. */
export class MetadataError extends OAuth2Error {
  override readonly name: string = "MetadataError";
  /** Stable; what to test for. */
  override readonly code = "ERR_OAUTH_METADATA";
}

/** A resource refused the token, see `WWW-Authenticate` (RFC 6750, 3; RFC 9470, 3). */
export class ChallengeError extends OAuth2Error {
  override readonly name: string = "ChallengeError";
  /** First challenge's `error`, such as `invalid_token`; else `ERR_OAUTH_CHALLENGE`. */
  declare readonly code: string;
  readonly #challenges: readonly Challenge[];

  constructor(
    message: string,
    { challenges, ...options }: OAuth2ErrorOptions & { readonly challenges: readonly Challenge[] },
  ) {
    const error = challenges.find(({ parameters }) => parameters.has("error"))?.parameters;
    super(message, {
      description: error?.get("error_description"),
      uri: error?.get("error_uri"),
      ...options,
      code: error?.get("error") ?? "ERR_OAUTH_CHALLENGE",
    });
    this.#challenges = challenges;
  }

  /** The challenges, in their order and as they came: servers write into them what they got. */
  get challenges(): readonly Challenge[] {
    return this.#challenges;
  }
}
