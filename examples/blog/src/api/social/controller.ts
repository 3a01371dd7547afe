import type { AccessToken, AuthorizationTransaction } from "@fetchwork/oauth2";
import type { OidcClient } from "@fetchwork/oauth2/oidc";
import { empty, json } from "@fetchwork/http";
import {
  badFields,
  fieldError,
  Problem,
  type Account,
  type Call,
  type Fields,
} from "@fetchwork/rest";
import { createPageCookie, personalHeaders, startSession } from "@fetchwork/rest/accounts";
import { notFound } from "@fetchwork/rest/handlers";
import { findOrCreateLinked, linkTo, type ProviderUser } from "../../services/linked-users.ts";
import { createProviderAccess } from "../../services/provider-access.ts";
import {
  createProviderClients,
  providerProblem,
  type ProviderClients,
} from "../../services/provider-clients.ts";
import type { Provider } from "../../services/providers.ts";
import { createSeal } from "../../services/seal.ts";
import { createSealedCookie, type SealedCookie } from "../../services/sealed-cookie.ts";
import { user, type User } from "../user/model.ts";
import type { SocialOptions } from "./index.ts";

/** What the routes of providers do. */
export interface SocialController {
  readonly client: ProviderClients;
  readonly start: (call: Call) => Promise<Response>;
  readonly startLink: (call: Call<unknown, Account>) => Promise<Response>;
  readonly finish: (call: Call) => Promise<Response>;
  readonly showUser: (call: Call<unknown, Account>) => Promise<Response>;
  readonly unlink: (call: Call<unknown, Account>) => Promise<Response>;
}

/** What the browser keeps of a sign-in that is under way, sealed. */
interface Pending {
  readonly transaction: AuthorizationTransaction;
  /** The user who links an account, and the session at that time. */
  readonly link?: { readonly userId: string; readonly sessionVersion: number } | undefined;
  /** Page that the browser returns to, with a session in a cookie. Absent, the response is the session. */
  readonly redirect?: string | undefined;
}

const scope = "openid email profile";

/** Time that a user has at the provider, in seconds. */
const lifetime = 600;

/** Signs users in with providers. */
export function createSocialController(options: SocialOptions): SocialController {
  const { accounts, publicUrl, secret } = options;
  const client = createProviderClients(publicUrl);
  const access = createProviderAccess(client, createSeal({ secret, purpose: "provider tokens" }));
  const providers = new Map(options.providers.map((one) => [one.name, one]));
  const pageCookie = createPageCookie({ isSecure: publicUrl.startsWith("https:") });
  const cookies = new Map(options.providers.map((one) => [one.name, cookieOf(one)]));

  function cookieOf({ name }: Provider): SealedCookie {
    const isSecure = publicUrl.startsWith("https:");
    const path = `/auth/${name}/callback`;
    return createSealedCookie({ name: `sign-in-${name}`, path, isSecure, lifetime, secret });
  }

  function named({ params }: Pick<Call, "params">): {
    readonly provider: Provider;
    readonly cookie: SealedCookie;
  } {
    const name = params["provider"] ?? "";
    const provider = providers.get(name);
    const cookie = cookies.get(name);
    if (provider === undefined || cookie === undefined) throw notFound("provider");
    return { provider, cookie };
  }

  async function begin(
    { provider, cookie }: ReturnType<typeof named>,
    more: Pick<Pending, "link" | "redirect">,
  ): Promise<{ readonly url: string; readonly headers: Readonly<Record<string, string>> }> {
    try {
      const { authCode, metadata } = await client(provider);
      const wanted = provider.keepsTokens === true ? offline(metadata) : { scope };
      const { url, transaction } = await authCode.start(wanted, { lifetime });
      const pending: Pending = { transaction, ...more };
      const kept = await cookie.seal(JSON.stringify(pending));
      return { url, headers: { ...personalHeaders, "set-cookie": kept } };
    } catch (error) {
      throw providerProblem(provider.name, error);
    }
  }

  async function signIn(
    call: Call,
    provider: Provider,
    { link, transaction }: Pending,
  ): ReturnType<typeof startSession> {
    const { person, token } = await identify(() => client(provider), call, transaction, provider);
    const found =
      link === undefined
        ? await findOrCreateLinked(accounts, person, `/auth/${provider.name}/links`)
        : await linked(call, person, link);
    if (provider.keepsTokens === true) await access.keep(call.store, person, token);
    return startSession(accounts, call, { found, method: "provider" });
  }

  return {
    client,
    async start(call) {
      const redirect = redirectOf(call.query, new URL(publicUrl).origin);
      const { url, headers } = await begin(named(call), { redirect });
      return empty(302, { headers: { ...headers, location: url } });
    },
    async startLink(call) {
      const { id: userId, sessionVersion } = call.user;
      const { url, headers } = await begin(named(call), { link: { userId, sessionVersion } });
      return json({ url }, { status: 201, headers });
    },
    async finish(call) {
      const { provider, cookie } = named(call);
      const pending = parse(await cookie.open(call.request));
      if (pending === undefined) {
        throw new Problem(400, { detail: "this browser has started no sign-in, or too long ago" });
      }
      const { redirect } = pending;
      if (redirect === undefined) {
        const session = await signIn(call, provider, pending);
        const headers = { ...personalHeaders, "set-cookie": cookie.removal };
        return json(session, { status: 201, headers });
      }
      const headers = new Headers({ ...personalHeaders, location: redirect });
      headers.append("set-cookie", cookie.removal);
      try {
        const { expiresIn, token } = await signIn(call, provider, pending);
        headers.append("set-cookie", pageCookie.set(token, expiresIn));
      } catch (error) {
        if (!(error instanceof Problem) || error.status >= 500) call.report(error);
        const page = new URL(redirect);
        page.searchParams.set("error", errorNameOf(error));
        headers.set("location", page.href);
      }
      return empty(302, { headers });
    },
    async showUser(call) {
      const { provider } = named(call);
      const claims = await access.userInfo(call.store, provider, call.user.id);
      return json(claims, { headers: personalHeaders });
    },
    async unlink(call) {
      const { provider } = named(call);
      const revoked = await access.unlink(call.store, provider, call.user.id);
      return json({ revoked }, { headers: personalHeaders });
    },
  };
}

/** Asks for a refresh token, too: by the scope (OpenID Connect Core, 11), or as Google wants it. */
function offline({ scopes_supported: scopes }: OidcClient["metadata"]): Record<string, string> {
  const hasScope = scopes === undefined || scopes.includes("offline_access");
  return hasScope
    ? { scope: `${scope} offline_access`, prompt: "consent" }
    : { scope, access_type: "offline", prompt: "consent" };
}

async function identify(
  connect: () => Promise<OidcClient>,
  { request }: Call,
  transaction: AuthorizationTransaction,
  { name }: Provider,
): Promise<{ readonly person: ProviderUser; readonly token: AccessToken }> {
  try {
    const client = await connect();
    const token = await client.authCode.callback(request, transaction);
    const claims = client.claims(token);
    if (claims === undefined) throw new Problem(400, { detail: `${name} gave no ID token` });
    const isComplete = claims["email"] !== undefined || !client.metadata.userinfo_endpoint;
    const all = isComplete ? claims : { ...claims, ...(await client.userInfo(token)) };
    const { email, email_verified, name: fullName, picture } = all as Fields;
    const { iss: issuer, sub } = claims;
    return { person: { issuer, sub, email, email_verified, name: fullName, picture }, token };
  } catch (error) {
    throw providerProblem(name, error);
  }
}

/** Reads where the browser returns to: a page of this origin, which alone can use the cookie, and nobody is led elsewhere. */
function redirectOf(query: URLSearchParams, origin: string): string | undefined {
  const given = query.get("redirect");
  if (given === null) return undefined;
  const url = URL.canParse(given) ? new URL(given) : undefined;
  if (url?.origin === origin && url.username === "" && url.password === "") {
    return url.href;
  }
  const message = "redirect must be an address of this origin";
  throw badFields([fieldError("redirect", "invalid", message)]);
}

/** What a page is told of a sign-in that failed. */
function errorNameOf(error: unknown): string {
  if (!(error instanceof Problem)) return "server_error";
  if (error.status === 409) return "link_required";
  return error.status === 503 ? "temporarily_unavailable" : "access_denied";
}

/** Links the account, unless the user has signed out everywhere meanwhile. */
async function linked(
  { store }: Call,
  person: ProviderUser,
  { userId, sessionVersion }: NonNullable<Pending["link"]>,
): Promise<User> {
  const found = await store.collection(user.collection).get(userId);
  if (found?.sessionVersion !== sessionVersion) {
    throw new Problem(400, { detail: "the session in which linking began is over" });
  }
  await linkTo(store, person, found);
  return found;
}

function parse(text: string | undefined): Pending | undefined {
  // Sealed by `begin`: nobody else can have written it.
  return text === undefined ? undefined : (JSON.parse(text) as Pending);
}
