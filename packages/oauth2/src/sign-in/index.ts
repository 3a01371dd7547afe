// `@fetchwork/oauth2/sign-in`: web handlers that sign users in with a provider.
export { signIn, type SignIn } from "./sign-in.ts";
export type { LoginOptions, SignedIn, SignInFailure, SignInOptions } from "./sign-in-options.ts";
export {
  openIdConnect,
  signInProvider,
  type ProviderOptions,
  type ProviderPreset,
  type SignInProfile,
  type SignInProvider,
} from "./provider.ts";
