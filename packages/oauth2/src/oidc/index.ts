export type { DeviceAuthorization } from "./requests/device-flow.ts";
export { discover } from "./metadata/discover.ts";
export { DPoP } from "./requests/dpop.ts";
export { ChallengeError, MetadataError, TokenValidationError } from "./errors.ts";
export type { Introspection } from "./requests/introspect.ts";
export { OidcClient } from "./oidc-client.ts";
export type { OidcClientOptions, OidcDiscoverOptions } from "./oidc-client-options.ts";
export { codeChallenge, randomValue } from "../grants/pkce.ts";
export type { PushedAuthorization } from "./requests/push-authorization.ts";
export { RemoteJwks, type RemoteJwksOptions } from "./jwt/remote-jwks.ts";
export type { ServerMetadata } from "./metadata/server-metadata.ts";
export type { UserInfo } from "./requests/user-info.ts";
export {
  verifyIdToken,
  type IdTokenClaims,
  type VerifyIdTokenOptions,
} from "./jwt/verify-id-token.ts";
