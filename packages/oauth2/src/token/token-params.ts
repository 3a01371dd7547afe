import type { TokenMethod } from "../connection/form-request.ts";
import type { GrantParams, Params } from "../message/form.ts";
import type { ParseOptions } from "../message/response.ts";

/** Options of a token request in addition to its parameters. */
export interface TokenRequestOptions extends ParseOptions {
  /** Further headers; `Content-Type: application/json` makes the body JSON. Default: none. */
  readonly headers?: RequestInit["headers"] | undefined;
  /** How the parameters are sent. Default: that of the client. */
  readonly tokenMethod?: TokenMethod | undefined;
  /** Whether an error is thrown. Default: that of the client. */
  readonly raiseErrors?: boolean | undefined;
  /** Aborts the request. Default: none. */
  readonly signal?: AbortSignal | null | undefined;
  /** Another spelling of `redirect_uri`. */
  readonly redirectUri?: string | undefined;
  /** Another spelling of `code_verifier`. */
  readonly codeVerifier?: string | undefined;
}

/** Parameters of a token request by their wire names, and how it is sent. */
export type TokenParams = TokenRequestOptions & GrantParams;

/** Kinds of tokens that can be revoked (RFC 7009, 2.1). */
export type TokenTypeHint = "access_token" | "refresh_token";

/** Options of {@link AccessToken.revoke}; what else is given, is a parameter of the request. */
export type RevokeParams = TokenParams & {
  /** Selects one of the two tokens. Default: `access_token`. */
  readonly token_type_hint?: TokenTypeHint | null | undefined;
};

/** Splits what a caller gave into parameters that are sent and how they are sent. */
export function splitTokenParams(given: TokenParams): {
  readonly params: Params;
  readonly options: TokenRequestOptions;
} {
  const {
    headers,
    parse,
    snaky,
    snakyHashClass,
    tokenMethod,
    raiseErrors,
    signal,
    redirectUri,
    codeVerifier,
    ...rest
  } = given;
  const params: Record<string, unknown> = rest;
  if (redirectUri !== undefined) params["redirect_uri"] = redirectUri;
  if (codeVerifier !== undefined) params["code_verifier"] = codeVerifier;
  const options = {
    headers,
    parse,
    snaky,
    snakyHashClass,
    tokenMethod,
    raiseErrors,
    signal,
  };
  return { params, options };
}
