export {
  DeviceFlow,
  type DeviceAuthorization,
  type PollOptions,
  type TokenClient,
} from "./device-flow.ts";
export { discover, type DiscoverOptions } from "./discover.ts";
export {
  DPoP,
  type DPoPAlgorithm,
  type DPoPKeys,
  type DPoPProofOptions,
  type GenerateDPoPOptions,
} from "./dpop.ts";
export { endSessionUrl, type EndSessionOptions } from "./end-session-url.ts";
export {
  AuthorizationResponseError,
  ChallengeError,
  MetadataError,
  TokenValidationError,
  type ChallengeErrorOptions,
  type TokenValidationErrorOptions,
} from "./errors.ts";
export type { DocumentOptions } from "./get-document.ts";
export type { Introspection, IntrospectOptions } from "./introspect.ts";
export {
  OidcClient,
  type ClientVerifyIdTokenOptions,
  type ClientVerifyLogoutTokenOptions,
} from "./oidc-client.ts";
export type {
  OidcClientOptions,
  OidcDiscoverOptions,
  RequestObjectKey,
} from "./oidc-client-options.ts";
export { parseChallenges, type Challenge } from "./parse-challenges.ts";
export { codeChallenge, generateCodeVerifier, randomNonce, randomState } from "./pkce.ts";
export type { EndpointCallOptions, ProviderClient } from "./provider-endpoint.ts";
export type { PushedAuthorization } from "./push-authorization.ts";
export {
  registerClient,
  type ClientInformation,
  type ClientMetadata,
  type RegisterClientOptions,
} from "./register-client.ts";
export { RemoteJwks, type RemoteJwksOptions } from "./remote-jwks.ts";
export { signRequestObject, type RequestObjectOptions } from "./request-object.ts";
export {
  fetchResourceMetadata,
  resourceMetadataUrl,
  type ResourceMetadata,
  type ResourceMetadataOptions,
} from "./resource-metadata.ts";
export type { EndpointName, ServerMetadata } from "./server-metadata.ts";
export { stepUp, type StepUp } from "./step-up.ts";
export { TokenExchange, type TokenExchangeOptions, type TokenTypeName } from "./token-exchange.ts";
export type { ClientUserInfoOptions, UserInfo, UserInfoOptions } from "./user-info.ts";
export { verifyIdToken, type IdTokenClaims, type VerifyIdTokenOptions } from "./verify-id-token.ts";
export type { JwtHeader, KeySource, VerificationKey } from "./verify-jwt.ts";
export {
  verifyLogoutToken,
  type LogoutClaims,
  type VerifyLogoutTokenOptions,
} from "./verify-logout-token.ts";
