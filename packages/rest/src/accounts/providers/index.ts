// `@fetchwork/rest/accounts/providers`: users of accounts sign in with providers.
export { type AccountProvider, knownProviders } from "./account-provider.ts";
export {
  type ProviderSignIn,
  providerSignIn,
  type ProviderSignInOptions,
} from "./provider-sign-in.ts";
