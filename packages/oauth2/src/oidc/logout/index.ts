// `@fetchwork/oauth2/oidc/logout`: ending a session at the provider, and being told that it ended there.
export { endSessionUrl, type EndSessionOptions } from "./end-session-url.ts";
export {
  verifyLogoutToken,
  type LogoutClaims,
  type VerifyLogoutTokenOptions,
} from "./verify-logout-token.ts";
