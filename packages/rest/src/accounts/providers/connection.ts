import { AuthorizationResponseError, type OAuth2Error } from "@fetchwork/oauth2";
import {
  openIdConnect,
  providers,
  signInProvider,
  type ProviderPreset,
  type SignInProvider,
} from "@fetchwork/oauth2/sign-in";
import { Problem } from "../../problem.ts";
import type { AccountProvider } from "./account-provider.ts";

/** A provider, and the client that it is reached with. */
export interface Connection {
  readonly settings: AccountProvider;
  readonly preset: ProviderPreset;
  readonly provider: SignInProvider;
}

/**
 * Makes a {@link Connection}. Nothing is sent yet.
 *
 * @throws OAuth2UsageError `ERR_OAUTH_OPTION`; MetadataError
 */
export function createConnection(settings: AccountProvider, origin: string): Connection {
  const { audience: _, issuer, keepsTokens: __, name, preset: given, ...options } = settings;
  const known: Readonly<Record<string, ProviderPreset | undefined>> = providers;
  const preset = given ?? (issuer === undefined ? known[name] : openIdConnect(issuer));
  // `checkProviders` knows the same names.
  if (preset === undefined) throw new TypeError(`the provider ${name} is unknown`);
  const redirectUri = `${origin}/auth/${name}/callback`;
  return { settings, preset, provider: signInProvider(preset, { ...options, redirectUri }) };
}

/** Describes a failure of a provider: 400 for an invalid callback, 503 for all other failures. */
export function providerProblem(name: string, error: OAuth2Error, isInvalid = false): Problem {
  if (!isInvalid) return new Problem(503, { detail: `${name} does not serve now`, cause: error });
  const isShown = error instanceof AuthorizationResponseError;
  const reason = isShown ? error.message : /^[a-z_]{1,40}$/.exec(error.code ?? "")?.[0];
  const detail = `the sign-in with ${name} failed`;
  return new Problem(400, { detail: reason === undefined ? detail : `${detail}: ${reason}` });
}
