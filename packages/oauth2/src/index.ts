export { AccessToken } from "./token/access-token.ts";
export { authorizedFetch } from "./client/authorized-fetch.ts";
export { withAccessToken } from "./client/with-access-token.ts";
export {
  DocumentTokenStore,
  type DocumentTokenStoreOptions,
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
export type {
  AuthScheme,
  ClientAuthenticator,
  ClientKey,
} from "./credentials/client-authentication.ts";
export type { OAuth2ClientOptions } from "./client/client-options.ts";
export { OAuth2Client } from "./client/client.ts";
export type { ConnectionBuilder } from "./connection/connection-builder.ts";
export type { ConnectionOpts, NodeTransportOptions } from "./connection/connection-opts.ts";
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
  type OAuth2UsageErrorCode,
} from "./errors.ts";
export type { Fetch, FetchMiddleware } from "./connection/fetch.ts";
export type { GrantParams, Params, Scope } from "./message/form.ts";
export type { DebugLogger } from "./log/logger.ts";
export type { ProofTarget, RequestProof } from "./connection/proof.ts";
export type { ResourceRequestBody } from "./message/request-body.ts";
export type { RefreshParams } from "./token/refresh-params.ts";
export type { ResourceRequestOptions } from "./connection/resource-request.ts";
export { OAuth2Response, type OAuth2ResponseInit, type ParseOptions } from "./message/response.ts";
export type { SendModeOption } from "./message/send-mode.ts";
export { signJwt } from "./credentials/sign-jwt.ts";
export type { SigningKey } from "./credentials/signing-key.ts";
export { findField } from "./snaky-hash.ts";
export type { TokenOptions } from "./token/token-options.ts";
export type { RevokeParams, TokenParams, TokenTypeHint } from "./token/token-params.ts";
export type {
  AuthorizationTransaction,
  StartAuthorizationOptions,
  StartedAuthorization,
} from "./grants/authorization-flow.ts";
export type { CallbackInput } from "./grants/authorization-response.ts";
