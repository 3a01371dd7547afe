export { AccessToken } from "./token/access-token.ts";
export { authorizedFetch } from "./client/authorized-fetch.ts";
export { withAccessToken } from "./client/with-access-token.ts";
export { DocumentTokenStore, type TokenDocument } from "./store/document-token-store.ts";
export type { LeaseOptions } from "./store/lease.ts";
export { TokenManager, type TokenManagerOptions } from "./manager/token-manager.ts";
export type { TokenHash } from "./token/token-hash.ts";
export type { AuthorizeOptions } from "./client/authorizer.ts";
export { MemoryTokenStore, type TokenStore } from "./store/token-store.ts";
export type { AuthScheme } from "./credentials/client-authentication.ts";
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
export type { Fetch } from "./connection/fetch.ts";
export type { GrantParams, Scope } from "./message/form.ts";
export type { ResourceRequestOptions } from "./connection/resource-request.ts";
export { OAuth2Response, type ParseOptions } from "./message/response.ts";
export { signJwt } from "./credentials/sign-jwt.ts";
export { findField } from "./snaky-hash.ts";
export type { TokenOptions } from "./token/token-options.ts";
export type { TokenParams, TokenTypeHint } from "./token/token-params.ts";
export type {
  AuthorizationTransaction,
  StartedAuthorization,
} from "./grants/authorization-flow.ts";
