import type { Stored } from "@fetchwork/documents";
import { empty, json } from "@fetchwork/http";
import { OAuth2Error, type GrantParams } from "@fetchwork/oauth2";
import { signIn, type SignedIn, type SignIn, type SignInFailure } from "@fetchwork/oauth2/sign-in";
import type { Account } from "../../account.ts";
import { fieldError } from "../../field-error.ts";
import { badFields, notFound, Problem } from "../../problem.ts";
import type { Call } from "../../resource/call.ts";
import type { ShownLink } from "../account-operations.ts";
import type { AccountsContext } from "../accounts-context.ts";
import { createPageCookie } from "../sessions/page-cookie.ts";
import { personalHeaders, startSession } from "../sessions/start-session.ts";
import type { StoredUser } from "../users/define-user.ts";
import { ownUserOrAdmin, refuseKeys } from "../users/own-account.ts";
import { isOf, type ProviderSignInOptions } from "./account-provider.ts";
import { type Connection, createConnection, providerProblem } from "./connection.ts";
import { findLinked, findOrCreateLinked, linkTo } from "./linked-users.ts";
import { createProviderAccess } from "./provider-access.ts";
import { verifyProviderToken } from "./provider-tokens.ts";

type UserCall = Call<unknown, Account>;

/** Handlers of the routes of providers. */
export interface ProviderController {
  readonly start: (call: Call) => Promise<Response>;
  readonly startLink: (call: UserCall) => Promise<Response>;
  readonly finish: (call: Call) => Promise<Response>;
  readonly showUser: (call: UserCall) => Promise<Response>;
  readonly listLinks: (call: UserCall) => Promise<Response>;
  readonly removeLink: (call: UserCall) => Promise<Response>;
  /** Finds the user of an access token of a provider. */
  readonly userOf: (token: string, name: string) => Promise<Stored<StoredUser> | undefined>;
}

/** The user who links an account, and the session at that time. */
interface Link {
  readonly userId: string;
  readonly sessionVersion: number;
}

/** Makes the {@link ProviderController} of all providers. */
export function createProviderController(
  context: AccountsContext,
  options: ProviderSignInOptions,
): ProviderController {
  const { origin, origins, providers, secret } = options;
  const { store } = context;
  const access = createProviderAccess(store, secret);
  const pageCookie = createPageCookie(context);
  const connections = new Map(providers.map((one) => [one.name, createConnection(one, origin)]));

  function connectionOf({ params }: Pick<Call, "params">): Connection {
    const connection = connections.get(params["provider"] ?? "");
    if (connection === undefined) throw notFound("provider");
    return connection;
  }

  function byIssuer(issuer: string): Connection | undefined {
    return [...connections.values()].find(({ settings }) => isOf(settings, issuer));
  }

  /** The handlers of one request, whose hooks know its call. */
  function handlersOf(call: Call, connection: Connection, params?: GrantParams): SignIn {
    const { provider, settings } = connection;
    return signIn(provider, {
      secret,
      origins,
      params,
      onSignedIn: async (signedIn) => {
        const { returnTo } = signedIn;
        if (returnTo === undefined) {
          const session = await startSessionOf(call, connection, signedIn);
          return json(session, { status: 201, headers: personalHeaders });
        }
        try {
          const { expiresIn, token } = await startSessionOf(call, connection, signedIn);
          const cookie = pageCookie.set(token, expiresIn);
          const headers = { ...personalHeaders, location: returnTo, "set-cookie": cookie };
          return empty(302, { headers });
        } catch (error) {
          return failed(call, returnTo, error);
        }
      },
      onError: (failure) => {
        const problem = problemOf(settings.name, failure);
        if (failure.returnTo === undefined) throw problem;
        return failed(call, failure.returnTo, problem);
      },
    });
  }

  async function startSessionOf(
    call: Call,
    { settings: { keepsTokens, name } }: Connection,
    { data, profile, token }: SignedIn,
  ): ReturnType<typeof startSession> {
    const visit = { ...call, user: undefined };
    // Sealed by `startLink`: nobody else can have written it.
    const link = data as Link | undefined;
    const found =
      link === undefined
        ? await findOrCreateLinked(context, visit, profile, `/auth/${name}/links`)
        : await findLinking(context, link);
    if (link !== undefined) await linkTo(context, profile, found);
    if (keepsTokens === true) await access.keep(profile, token);
    return startSession(context, call, { found, method: "provider" });
  }

  async function begin(call: Call, how: Parameters<SignIn["start"]>[1]): Promise<Response> {
    const connection = connectionOf(call);
    const params = await offlineParams(connection);
    return handlersOf(call, connection, params).start(call.request, how);
  }

  return {
    start: (call) => begin(call, { returnTo: call.query.get("redirect") ?? undefined }),
    async startLink(call) {
      refuseKeys(call);
      const { id: userId, sessionVersion } = call.user;
      const { headers } = await begin(call, { data: { userId, sessionVersion } });
      const url = headers.get("location");
      headers.delete("location");
      return json({ url }, { status: 201, headers });
    },
    async finish(call) {
      const { request } = call;
      const isForm = request.method === "POST";
      const handlers = handlersOf(call, connectionOf(call));
      return handlers.callback(isForm ? formAgain(call) : request);
    },
    async showUser(call) {
      refuseKeys(call);
      const claims = await access.userInfo(connectionOf(call), call.user.id);
      return json(claims, { headers: personalHeaders });
    },
    async listLinks(call) {
      const { id } = await ownUserOrAdmin(context, call);
      const links = await access.links(id);
      const shown = links.map(({ createdAt, id: link, issuer }): ShownLink => {
        return { id: link, provider: byIssuer(issuer)?.settings.name ?? null, createdAt };
      });
      return json(shown, { headers: personalHeaders });
    },
    async removeLink(call) {
      const { id } = await ownUserOrAdmin(context, call);
      const revoked = await access.unlink(id, call.params["link"] ?? "", byIssuer);
      return json({ revoked }, { headers: personalHeaders });
    },
    async userOf(token, name) {
      const connection = connections.get(name);
      const person = connection && (await verifyProviderToken(token, connection));
      return person && findLinked(store, context.user, person);
    },
  };
}

/** Asks for a refresh token, too: by the scope (OpenID Connect Core, 11), or as Google wants it. */
async function offlineParams(connection: Connection): Promise<GrantParams | undefined> {
  const { preset, provider, settings } = connection;
  if (settings.keepsTokens !== true || preset.metadata !== undefined) return undefined;
  try {
    const { scopes_supported: scopes } = (await provider.connect()).metadata;
    const hasScope = scopes === undefined || scopes.includes("offline_access");
    return hasScope
      ? { scope: `${String(provider.params["scope"])} offline_access`, prompt: "consent" }
      : { access_type: "offline", prompt: "consent" };
  } catch (error) {
    throw error instanceof OAuth2Error ? providerProblem(settings.name, error) : error;
  }
}

/** The form of a POST (OAuth 2.0 Form Post Response Mode), which has been read already. */
function formAgain({ request, sent = {} }: Call): Request {
  const body = new URLSearchParams();
  for (const [name, values] of Object.entries(sent)) {
    for (const value of [values].flat()) if (typeof value === "string") body.append(name, value);
  }
  const cookie = request.headers.get("cookie") ?? "";
  return new Request(request.url, { method: "POST", headers: { cookie }, body });
}

function problemOf(name: string, { error, status }: SignInFailure): Problem {
  if (error.code !== "ERR_OAUTH_TARGET") return providerProblem(name, error, status === 400);
  const message = "redirect must be an address of this origin, or of one that is allowed";
  return badFields([fieldError("redirect", "invalid", message)]);
}

/** Returns to the page that a sign-in was started with, and says there that it failed. */
function failed(call: Call, returnTo: string, error: unknown): Response {
  if (!(error instanceof Problem) || error.status >= 500) call.report(error);
  const page = new URL(returnTo);
  page.searchParams.set("error", errorNameOf(error));
  return empty(302, { headers: { ...personalHeaders, location: page.href } });
}

function errorNameOf(error: unknown): string {
  if (!(error instanceof Problem)) return "server_error";
  if (error.status === 409) return "link_required";
  return error.status === 503 ? "temporarily_unavailable" : "access_denied";
}

/** Finds the user who links an account, unless the user has signed out everywhere since. */
async function findLinking(
  { store, user }: AccountsContext,
  { sessionVersion, userId }: Link,
): Promise<Stored<StoredUser>> {
  const found = await store.collection(user.collection).get(userId);
  if (found?.sessionVersion !== sessionVersion) {
    throw new Problem(400, { detail: "the session in which linking began is over" });
  }
  return found;
}
