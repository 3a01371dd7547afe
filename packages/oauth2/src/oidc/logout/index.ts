// `@fetchwork/oauth2/oidc/logout`: ending a session at the provider, and being told that it ended
// there.
export { endSessionUrl } from "./end-session-url.ts";
export { verifyLogoutToken, type LogoutClaims } from "./verify-logout-token.ts";
