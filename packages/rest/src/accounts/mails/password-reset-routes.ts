import { empty, json } from "@fetchwork/http";
import { z } from "zod";
import { countAlways } from "../../attempt-limiter.ts";
import { defineRoute } from "../../plan/route.ts";
import { notFound } from "../../problem.ts";
import { propertiesOf } from "../../schema.ts";
import { type AccountRoute, accountRoute } from "../account-route.ts";
import type { AccountsContext } from "../accounts-context.ts";
import { personalHeaders } from "../sessions/start-session.ts";
import { emailSchema, passwordSchema } from "../users/user-fields.ts";
import { pageLink } from "./link.ts";
import { findToken, passwordResets } from "./mailed-tokens.ts";
import { readyMails } from "./ready-mails.ts";
import { resetPassword } from "./use-token.ts";

const tag = "password-resets";
const missing = { description: "No such token, or it is used or expired" };
const tooMany = { description: "Too many requests from this address; see Retry-After" };

/** Fields of a user that the holder of a token sees before setting that user's password. */
const holderView = ["id", "name", "picture", "email"] as const;

/** Makes the routes by which users set a password that they have lost. */
export function passwordResetRoutes(context: AccountsContext): readonly AccountRoute[] {
  const { linkOrigins, store, user } = context;
  const properties = propertiesOf(user.output, "a user");
  const holder = Object.fromEntries(holderView.map((field) => [field, properties[field] ?? {}]));

  return [
    defineRoute({
      method: "POST",
      path: "/password-resets",
      operation: "createPasswordReset",
      summary: "Request a password reset",
      description:
        "Mails a link with a token. The response does not reveal whether the address has an account",
      tag,
      access: context.signIn,
      body: z.object({ email: emailSchema, link: pageLink(linkOrigins) }),
      responses: {
        202: { description: "The mail will be sent, if the address has an account" },
        429: { description: "Too many mails for this address; see Retry-After" },
        503: { description: "Mails cannot be sent now" },
      },
      /** Responds before looking for the user, so that nothing tells who exists. */
      handle: async ({ body }) => {
        const mails = await readyMails(context);
        await countAlways(context.mailLimiter, `Reset of ${body.email}`);
        await mails.queue({ kind: "password-reset", ...body });
        return empty(202);
      },
    }),
    defineRoute({
      method: "GET",
      path: "/password-resets/:token",
      operation: "showPasswordReset",
      summary: "Show the user of a password reset",
      tag,
      access: "public",
      responses: {
        200: {
          description: "The user, and the token of the path",
          schema: {
            type: "object",
            properties: {
              user: { type: "object", properties: holder, required: holderView },
              token: { type: "string" },
            },
            required: ["user", "token"],
          },
        },
        404: missing,
        429: tooMany,
      },
      handle: async ({ params }) => {
        const { token = "" } = params;
        const found = await findToken(context, store, passwordResets, token);
        if (!found) throw notFound("token");
        const shown = user.present(found.user, { user: found.user }, holderView);
        return json({ user: shown, token }, { headers: personalHeaders });
      },
    }),
    defineRoute({
      method: "PUT",
      path: "/password-resets/:token",
      operation: "usePasswordReset",
      summary: "Set a new password",
      description:
        "Ends all sessions, API keys, passkeys, links to providers and password resets of the user, and the second factor too unless the email was proved before",
      tag,
      access: "public",
      body: z.object({ password: passwordSchema }),
      responses: {
        200: { description: "The user", schema: user.changed },
        404: missing,
        429: tooMany,
        503: { description: "Too many passwords are being hashed" },
      },
      handle: async ({ attempts, body, context: { ip }, params }) => {
        const changed = await resetPassword(context, params["token"] ?? "", body.password);
        if (!changed) throw notFound("token");
        await attempts?.forget({ account: changed.email, address: ip });
        return json(user.present(changed, { user: changed }), { headers: personalHeaders });
      },
    }),
  ].map(accountRoute);
}
