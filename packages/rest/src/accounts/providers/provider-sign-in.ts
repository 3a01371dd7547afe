import { checkOptions } from "../../check-options.ts";
import { checkConfigured } from "../../errors.ts";
import type { Authentication } from "../../http/authentication.ts";
import type { Route } from "../../plan/route.ts";
import { requireSecret } from "../../require-secret.ts";
import type { ProviderOperation } from "../account-operations.ts";
import type { OpenAccounts } from "../accounts.ts";
import {
  type AccountProvider,
  checkProviders,
  isOf,
  type ProviderSignInOptions,
} from "./account-provider.ts";
import type { ProviderController } from "./provider-controller.ts";
import { providerRoutes } from "./provider-routes.ts";

/** Signing in with providers. */
export interface ProviderSignIn {
  /** In addition to those of the accounts. */
  readonly routes: readonly Route<ProviderOperation>[];
  /** The authentication of the accounts, which accepts access tokens of providers too. */
  readonly authentication: Authentication;
}

/** Longest token that is looked at, in characters. */
const maxLength = 8192;

/**
 * Lets users of accounts sign in with providers. `@fetchwork/oauth2` is loaded with the first
 * request that needs it.
 *
 * A verified address of a provider leads to the user with that address; unless that user has proved
 * to own it, its password, sessions, keys, passkeys and links end first. Without a verified
 * address, only a user who is signed in can link the account.
 *
 * @throws RestError `ERR_REST_CONFIGURATION`
 *
 * @example
 * ```ts
 * const google = { name: "google", clientId, clientSecret };
 * const signIn = providerSignIn(opened, { providers: [google], origin, secret: jwtSecret });
 * const routes = [...opened.routes, ...signIn.routes];
 * const api = createApi({ title, version, store, routes, authentication: signIn.authentication });
 * ```
 */
export function providerSignIn(
  { authentication, context }: Pick<OpenAccounts, "authentication" | "context">,
  options: ProviderSignInOptions,
): ProviderSignIn {
  checkOptions("providerSignIn", options, ["providers", "origin", "secret", "origins"]);
  const { origin, origins = [], providers, secret } = options;
  checkProviders(providers);
  requireSecret(secret, { name: "secret", variable: "JWT_SECRET" });
  for (const one of [origin, ...origins]) {
    const isOrigin = URL.canParse(one) && new URL(one).origin === one;
    const expected = "expected one like https://example.com";
    checkConfigured(isOrigin, `invalid origin ${JSON.stringify(one)}: ${expected}`);
  }
  if (providers.length === 0) return { routes: [], authentication };
  let loaded: Promise<ProviderController> | undefined;
  const controller = (): Promise<ProviderController> =>
    (loaded ??= import("./provider-controller.ts").then((one) =>
      one.createProviderController(context, options),
    ));
  return {
    routes: providerRoutes(context, controller),
    authentication: acceptProviderTokens(authentication, providers, controller),
  };
}

/** Lets callers show access tokens of providers (RFC 9068) where they may show ours. */
function acceptProviderTokens(
  authentication: Authentication,
  providers: readonly AccountProvider[],
  controller: () => Promise<ProviderController>,
): Authentication {
  const accepted = providers.filter(({ audience }) => audience !== undefined);
  if (accepted.length === 0) return authentication;

  return {
    ...authentication,
    authenticate(rule, credentials) {
      const token = /^bearer +(\S+) *$/i.exec(credentials.authorization ?? "")?.[1] ?? "";
      const issuer = issuerOf(token);
      const provider = accepted.find((one) => issuer !== undefined && isOf(one, issuer));
      return provider === undefined
        ? authentication.authenticate(rule, credentials)
        : exchange(token, provider).then((authorization) =>
            authentication.authenticate(rule, { ...credentials, authorization }),
          );
    },
  };

  /** From here on it counts as one of ours, with every rule. */
  async function exchange(token: string, { name }: AccountProvider): Promise<string> {
    const account = await (await controller()).userOf(token, name);
    return `Bearer ${account === undefined ? token : await authentication.tokens.issue(account)}`;
  }
}

/** The issuer that a token names; nothing of it is verified. */
function issuerOf(token: string): string | undefined {
  const [, payload, signature, ...more] = token.length > maxLength ? [] : token.split(".");
  if (payload === undefined || signature === undefined || more.length > 0) return undefined;
  try {
    const claims: unknown = JSON.parse(Buffer.from(payload, "base64url").toString());
    const isRecord = typeof claims === "object" && claims !== null && "iss" in claims;
    return isRecord && typeof claims.iss === "string" ? claims.iss : undefined;
  } catch {
    return undefined;
  }
}
