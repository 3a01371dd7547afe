import type { OidcClient } from "@fetchwork/oauth2/oidc";
import { defineRoute, type Route } from "@fetchwork/rest";
import { sessionSchema, type AccountsContext } from "@fetchwork/rest/accounts";
import type { Provider } from "../../services/providers.ts";
import { user } from "../user/model.ts";
import type { SocialController } from "./controller.ts";
import { callbackParameters, link, unlinked, userInfo } from "./model.ts";

/** What signing in with providers needs. */
export interface SocialOptions {
  readonly providers: readonly Provider[];
  /** Origin under which browsers reach the server. */
  readonly publicUrl: string;
  /** Seals what a sign-in keeps in the browser. */
  readonly secret: string;
  /** Users, and the sessions that they get. */
  readonly accounts: AccountsContext;
}

/** Signing in with providers. */
export interface Social {
  readonly routes: readonly Route[];
  /** Gives the client of a provider. */
  readonly client: (provider: Provider) => Promise<OidcClient>;
}

const tag = "auth";
const failures = {
  400: { description: "The sign-in failed, or was not started in this browser" },
  404: { description: "Provider not found" },
  503: { description: "The provider is not available now" },
};

/** Makes the routes by which users sign in with providers; what they need is loaded when the first one comes. */
export function createSocial(options: SocialOptions): Social {
  let loaded: Promise<SocialController> | undefined;
  const controller = (): Promise<SocialController> =>
    (loaded ??= import("./controller.ts").then((one) => one.createSocialController(options)));
  const string = { type: "string" };
  const routes = [
    defineRoute({
      method: "GET",
      path: "/auth/:provider",
      operation: "startSocialSignIn",
      summary: "Sign in with a provider",
      description:
        "Redirects the browser to the provider. With `redirect` it returns to that page, with a session in a cookie that scripts do not read, or with the parameter `error`: `access_denied`, `link_required`, `temporarily_unavailable` or `server_error`",
      tag,
      access: "public",
      query: [
        {
          name: "redirect",
          description: "Page of this origin to return to. Without it the response is a session",
          schema: { type: "string", format: "uri" },
        },
      ],
      responses: { 302: { description: "To the provider" }, ...failures },
      handle: async (call) => (await controller()).start(call),
    }),
    defineRoute({
      method: "GET",
      path: "/auth/:provider/callback",
      operation: "finishSocialSignIn",
      summary: "Finish a sign-in with a provider",
      tag,
      access: "public",
      query: callbackParameters.map((name) => ({
        name,
        description: "As the provider sends it",
        schema: string,
      })),
      responses: {
        201: { description: "A session", schema: sessionSchema(user.changed) },
        302: { description: "To the page that the sign-in was started with" },
        409: { description: "The provider has verified no email address; link the account" },
        ...failures,
      },
      handle: async (call) => (await controller()).finish(call),
    }),
    defineRoute({
      method: "POST",
      path: "/auth/:provider/links",
      operation: "linkProvider",
      summary: "Link an account of a provider",
      tag,
      access: "user",
      responses: {
        201: { description: "Address to open in the browser, with the cookie", schema: link },
        ...failures,
      },
      handle: async (call) => (await controller()).startLink(call),
    }),
    defineRoute({
      method: "GET",
      path: "/auth/:provider/userinfo",
      operation: "showProviderUser",
      summary: "Show the profile at a provider",
      description: "As the provider has it now; needs tokens of the provider that were kept",
      tag,
      access: "user",
      responses: {
        200: { description: "As the provider sends it", schema: userInfo },
        404: { description: "Provider, link or token not found" },
        409: { description: "The provider refused the token: sign in with it again" },
        503: failures[503],
      },
      handle: async (call) => (await controller()).showUser(call),
    }),
    defineRoute({
      method: "DELETE",
      path: "/auth/:provider",
      operation: "unlinkProvider",
      summary: "Unlink an account of a provider",
      description: "Deletes and revokes its tokens, too",
      tag,
      access: "user",
      responses: {
        200: { description: "Unlinked", schema: unlinked },
        404: { description: "Provider or link not found" },
      },
      handle: async (call) => (await controller()).unlink(call),
    }),
  ];
  return { routes, client: async (provider) => (await controller()).client(provider) };
}
