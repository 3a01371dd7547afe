// `@fetchwork/rest/accounts/providers`: users of accounts sign in with providers.
export {
  type AccountProvider,
  knownProviders,
  type ProviderSignInOptions,
} from "./account-provider.ts";
export { type ProviderSignIn, providerSignIn } from "./provider-sign-in.ts";
