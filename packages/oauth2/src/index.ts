export { AccessToken, type RevokeParams, type TokenTypeHint } from "./access-token.ts";
export type { AllowedOrigins } from "./allowed-origins.ts";
export {
  authorizedFetch,
  type AuthorizedFetchOptions,
  type FetchFunction,
} from "./authorized-fetch.ts";
export { bearer, type ContextHandler, type ContextMiddleware } from "./bearer.ts";
export {
  DocumentTokenStore,
  type DocumentTokenStoreOptions,
  type TokenCollection,
  type TokenDocument,
} from "./document-token-store.ts";
export { TokenManager, type GetTokenOptions, type TokenManagerOptions } from "./token-manager.ts";
export type { TokenHash } from "./token-hash.ts";
export type { AuthorizeOptions, TokenSource } from "./token-source.ts";
export { MemoryTokenStore, type TokenStore } from "./token-store.ts";
export {
  AssertionStrategy,
  type AssertionClaims,
  type AssertionEncoding,
  type AssertionTuple,
} from "./assertion.ts";
export { AuthCodeStrategy, type AuthorizeParams } from "./auth-code.ts";
export {
  type AuthenticatedRequest,
  type AuthScheme,
  type ClientAuthenticator,
  type ClientKey,
} from "./client-authentication.ts";
export { ClientCredentialsStrategy } from "./client-credentials.ts";
export type { ClientOptions } from "./client-options.ts";
export { OAuth2Client } from "./client.ts";
export type { ConnectionBuilder } from "./connection-builder.ts";
export type { ConnectionOpts, NodeTransportOptions, PemOrDer } from "./connection-opts.ts";
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
export type { Fetch, FetchMiddleware } from "./fetch.ts";
export type { TokenMethod } from "./form-request.ts";
export type { GrantParams, ParamValue, Params, Scope } from "./form.ts";
export { ImplicitStrategy } from "./implicit.ts";
export type { Logger } from "./logger.ts";
export { registerParser, type BodyParser, type ParserChoice } from "./parse-body.ts";
export { PasswordStrategy } from "./password.ts";
export type { ProofTarget, RequestProof } from "./proof.ts";
export type { BodyEncoding, RequestBody } from "./request-body.ts";
export type { RefreshParams } from "./refresh-params.ts";
export type { RequestOptions } from "./resource-request.ts";
export { OAuth2Response, type OAuth2ResponseInit, type ParseOptions } from "./response.ts";
export type { SendMode, SendModeOption } from "./send-mode.ts";
export { configure, resetSettings, settings, type Settings } from "./settings.ts";
export {
  signJwt,
  type NodeKeyObject,
  type SigningHeader,
  type SigningJwk,
  type SigningKey,
} from "./sign-jwt.ts";
export { snakeCase } from "./snake-case.ts";
export {
  findField,
  snakyHashClass,
  type HashHook,
  type SnakyHash,
  type SnakyHashClass,
  type SnakyHooks,
  type ValueHook,
} from "./snaky-hash.ts";
export type { TokenOptions, TokenSettings } from "./token-options.ts";
export type { TokenParams, TokenRequestOptions } from "./token-params.ts";
export type {
  AuthorizationTransaction,
  OpenIdFlow,
  StartAuthorizationOptions,
  StartedAuthorization,
} from "./authorization-flow.ts";
export type { CallbackInput } from "./oidc/authorization-response.ts";
export { AuthorizationResponseError } from "./oidc/errors.ts";
