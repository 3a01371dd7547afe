// `@fetchwork/oauth2/sign-in`: web handlers that sign users in with a provider.
export { appleClientSecret, type AppleKey } from "./apple-client-secret.ts";
export { providers } from "./presets.ts";
export {
  openIdConnect,
  signInProvider,
  type ProviderOptions,
  type ProviderPreset,
  type SignInProfile,
  type SignInProvider,
} from "./provider.ts";
export type { SignedIn, SignInFailure, SignInOptions } from "./sign-in-options.ts";
export { signIn, type SignIn } from "./sign-in.ts";
