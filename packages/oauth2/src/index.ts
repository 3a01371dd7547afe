export { AccessToken } from "./token/access-token.ts";
export type { AllowedOrigins } from "./message/allowed-origins.ts";
export {
  authorizedFetch,
  type AuthorizedFetchOptions,
  type AuthorizedFetch,
} from "./client/authorized-fetch.ts";
export {
  withAccessToken,
  type ContextHandler,
  type ContextMiddleware,
} from "./client/with-access-token.ts";
export {
  DocumentTokenStore,
  type DocumentTokenStoreOptions,
  type TokenCollection,
  type TokenDocument,
} from "./store/document-token-store.ts";
export {
  TokenManager,
  type GetTokenOptions,
  type TokenManagerOptions,
} from "./manager/token-manager.ts";
export type { TokenHash } from "./token/token-hash.ts";
export type { AuthorizeOptions, TokenSource } from "./client/authorizer.ts";
export { MemoryTokenStore, type TokenStore } from "./store/token-store.ts";
export {
  AssertionGrant,
  type AssertionClaims,
  type AssertionEncoding,
  type AssertionTuple,
} from "./grants/assertion.ts";
export { AuthCodeGrant, type AuthorizeParams } from "./grants/auth-code.ts";
export {
  type AuthenticatedRequest,
  type AuthScheme,
  type ClientAuthenticator,
  type ClientKey,
} from "./credentials/client-authentication.ts";
export { ClientCredentialsGrant } from "./grants/client-credentials.ts";
export type { OAuth2ClientOptions } from "./client/client-options.ts";
export { OAuth2Client } from "./client/client.ts";
export type { ConnectionBuilder } from "./connection/connection-builder.ts";
export type {
  ConnectionOpts,
  NodeTransportOptions,
  PemOrDer,
} from "./connection/connection-opts.ts";
export {
  AuthorizationResponseError,
  OAuth2ConnectionError,
  InvalidResponseError,
  OAuth2Error,
  OAuth2UsageError,
  OAuth2RedirectError,
  OAuth2TimeoutError,
  TokenStoreError,
  TokenUnavailableError,
  type InvalidResponseErrorOptions,
  type OAuth2ErrorOptions,
  type OAuth2UsageErrorCode,
  type ResponseData,
} from "./errors.ts";
export type { Fetch, FetchMiddleware } from "./connection/fetch.ts";
export type { TokenMethod } from "./connection/form-request.ts";
export type { GrantParams, ParamValue, Params, Scope } from "./message/form.ts";
export { ImplicitGrant } from "./grants/implicit.ts";
export type { DebugLogger } from "./log/logger.ts";
export type { BodyParser, ParserChoice } from "./message/parse-body.ts";
export { PasswordGrant } from "./grants/password.ts";
export type { ProofTarget, RequestProof } from "./connection/proof.ts";
export type { BodyEncoding, ResourceRequestBody } from "./message/request-body.ts";
export type { RefreshParams } from "./token/refresh-params.ts";
export type { ResourceRequestOptions } from "./connection/resource-request.ts";
export { OAuth2Response, type OAuth2ResponseInit, type ParseOptions } from "./message/response.ts";
export type { SendMode, SendModeOption } from "./message/send-mode.ts";
export {
  signJwt,
  type NodeKeyObject,
  type SigningHeader,
  type SigningJwk,
  type SigningKey,
} from "./credentials/sign-jwt.ts";
export { findField } from "./snaky-hash.ts";
export type { TokenOptions, TokenSettings } from "./token/token-options.ts";
export type {
  RevokeParams,
  TokenParams,
  TokenRequestOptions,
  TokenTypeHint,
} from "./token/token-params.ts";
export type {
  AuthorizationTransaction,
  OpenIdFlow,
  StartAuthorizationOptions,
  StartedAuthorization,
} from "./grants/authorization-flow.ts";
export type { CallbackInput } from "./grants/authorization-response.ts";
