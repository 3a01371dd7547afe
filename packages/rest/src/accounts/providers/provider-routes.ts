import { named } from "../../named-schema.ts";
import { defineRoute, type Route } from "../../plan/route.ts";
import type { JsonSchema } from "../../schema.ts";
import type { ProviderOperation } from "../account-operations.ts";
import { accountRoute } from "../account-route.ts";
import type { AccountsContext } from "../accounts-context.ts";
import { sessionSchema } from "../sessions/auth-routes.ts";
import { ownOrAdmin } from "../users/own-account.ts";
import type { ProviderController } from "./provider-controller.ts";

const tag = "auth";
const failures = {
  400: { description: "The sign-in failed, or was not started in this browser" },
  404: { description: "Provider not found" },
  503: { description: "The provider is not available now" },
};

/** Parameters that providers add to the callback. */
const callbackParameters =
  "authuser code error error_description error_uri hd iss prompt scope session_state state";

const properties = {
  id: { type: "string" },
  provider: {
    type: ["string", "null"],
    description: "`null` for one that is not offered any more",
  },
  createdAt: { type: "string", format: "date-time" },
};
const link: JsonSchema = named(
  "ProviderLink",
  { type: "object", properties, required: Object.keys(properties) },
  "An account of a provider that a user signs in with",
);
const begun = {
  type: "object",
  properties: { url: { type: "string", format: "uri", description: "Open it in this browser" } },
  required: ["url"],
};
const userInfo = {
  type: "object",
  properties: { sub: { type: "string", description: "The user at the provider" } },
  required: ["sub"],
  additionalProperties: true,
};
const revoked = {
  type: "boolean",
  description: "Whether no token is left at the provider; else it holds there until it expires",
};

/** Makes the routes for signing in with providers, which load their parts at the first request. */
export function providerRoutes(
  { user }: AccountsContext,
  controller: () => Promise<ProviderController>,
): readonly Route<ProviderOperation>[] {
  const finish = {
    path: "/auth/:provider/callback",
    tag,
    access: "public",
    responses: {
      201: { description: "A session", schema: sessionSchema(user.changed) },
      302: { description: "To the page that the sign-in was started with" },
      409: { description: "The provider has verified no email address; link the account" },
      ...failures,
    },
    handle: async (call: Parameters<ProviderController["finish"]>[0]) =>
      (await controller()).finish(call),
  } as const;

  return [
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
          schema: { type: "string" },
        },
      ],
      responses: { 302: { description: "To the provider" }, ...failures },
      handle: async (call) => (await controller()).start(call),
    }),
    defineRoute({
      ...finish,
      method: "GET",
      operation: "finishSocialSignIn",
      summary: "Finish a sign-in with a provider",
      query: callbackParameters.split(" ").map((name) => ({
        name,
        description: "As the provider sends it",
        schema: { type: "string" },
      })),
    }),
    defineRoute({
      ...finish,
      method: "POST",
      operation: "finishPostedSignIn",
      summary: "Finish a sign-in with a provider that posts a form",
    }),
    defineRoute({
      method: "POST",
      path: "/auth/:provider/links",
      operation: "linkProvider",
      summary: "Link an account of a provider",
      tag,
      access: "user",
      responses: {
        201: { description: "Address to open in the browser, with the cookie", schema: begun },
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
      method: "GET",
      path: "/users/:id/links",
      operation: "listLinks",
      summary: "List accounts of providers that a user has linked",
      description: ownOrAdmin,
      tag,
      access: "user",
      responses: {
        200: { description: "Links, the oldest first", schema: { type: "array", items: link } },
        404: { description: "User not found" },
      },
      handle: async (call) => (await controller()).listLinks(call),
    }),
    defineRoute({
      method: "DELETE",
      path: "/users/:id/links/:link",
      operation: "removeLink",
      summary: "Unlink an account of a provider",
      description: `${ownOrAdmin}. Deletes and revokes its tokens, too`,
      tag,
      access: "user",
      responses: {
        200: {
          description: "Unlinked",
          schema: { type: "object", properties: { revoked }, required: ["revoked"] },
        },
        404: { description: "User or link not found" },
      },
      handle: async (call) => (await controller()).removeLink(call),
    }),
  ].map((route) => accountRoute<ProviderOperation>(route));
}
