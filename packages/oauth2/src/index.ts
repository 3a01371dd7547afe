export {
  ConnectionError,
  InvalidResponseError,
  OAuth2Error,
  OAuth2UsageError,
  RedirectError,
  TimeoutError,
  TokenStoreError,
  TokenUnavailableError,
  type InvalidResponseErrorOptions,
  type OAuth2ErrorOptions,
  type OAuth2UsageErrorCode,
} from "./errors.ts";
export {
  type AuthenticatedRequest,
  type AuthScheme,
  type ClientAuthenticator,
  type ClientKey,
} from "./client-authentication.ts";
export type { Fetch, FetchMiddleware } from "./fetch.ts";
export type { ParamValue, Params } from "./form.ts";
export type { TokenMethod } from "./form-request.ts";
export type { Logger } from "./logger.ts";
export { registerParser, type BodyParser, type ParserChoice } from "./parse-body.ts";
export type { ProofTarget, RequestProof } from "./proof.ts";
export { OAuth2Response, type OAuth2ResponseInit, type ParseOptions } from "./response.ts";
export { configure, settings, type Settings } from "./settings.ts";
export { signJwt, type JwtHeader, type NodeKeyObject, type SigningKey } from "./sign-jwt.ts";
export { snakeCase } from "./snake-case.ts";
export {
  snakyHashClass,
  type HashHook,
  type SnakyHash,
  type SnakyHashClass,
  type SnakyHooks,
  type ValueHook,
} from "./snaky-hash.ts";
