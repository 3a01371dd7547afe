export {
  DeviceFlow,
  type DeviceAuthorization,
  type PollOptions,
  type DeviceFlowClient,
} from "./requests/device-flow.ts";
export { discover, type DiscoverOptions } from "./metadata/discover.ts";
export {
  DPoP,
  type DPoPAlgorithm,
  type DPoPKeys,
  type DPoPProofOptions,
  type GenerateDPoPOptions,
} from "./requests/dpop.ts";
export { AuthorizationResponseError } from "../errors.ts";
export {
  ChallengeError,
  MetadataError,
  TokenValidationError,
  type ChallengeErrorOptions,
  type TokenValidationErrorOptions,
} from "./errors.ts";
export type { DocumentOptions } from "./metadata/get-document.ts";
export type { Introspection, IntrospectOptions } from "./requests/introspect.ts";
export {
  OidcClient,
  type ClientVerifyIdTokenOptions,
  type ClientVerifyLogoutTokenOptions,
} from "./oidc-client.ts";
export type { OidcClientOptions, OidcDiscoverOptions } from "./oidc-client-options.ts";
export { codeChallenge, generateCodeVerifier, randomNonce, randomState } from "../grants/pkce.ts";
export type { Challenge } from "./parse-challenges.ts";
export type { EndpointCallOptions, ProviderClient } from "./provider-endpoint.ts";
export type { PushedAuthorization } from "./requests/push-authorization.ts";
export { RemoteJwks, type JwtHeader, type RemoteJwksOptions } from "./jwt/remote-jwks.ts";
export type { EndpointName, ServerMetadata } from "./metadata/server-metadata.ts";
export {
  TokenExchange,
  type TokenExchangeOptions,
  type TokenTypeName,
} from "./requests/token-exchange.ts";
export type { ClientUserInfoOptions, UserInfo, UserInfoOptions } from "./requests/user-info.ts";
export {
  verifyIdToken,
  type IdTokenClaims,
  type VerifyIdTokenOptions,
} from "./jwt/verify-id-token.ts";
export type { KeySource, VerificationKey } from "./jwt/verify-jwt.ts";
