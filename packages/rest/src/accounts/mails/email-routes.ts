import type { Stored } from "@fetchwork/documents";
import { empty, json } from "@fetchwork/http";
import { z } from "zod";
import { countAlways, countAttempt } from "../../attempt-limiter.ts";
import { fieldError } from "../../field-error.ts";
import { defineRoute } from "../../plan/route.ts";
import { badFields, notFound, Problem } from "../../problem.ts";
import { type AccountRoute, accountRoute } from "../account-route.ts";
import type { Call } from "../../resource/call.ts";
import type { AccountsContext } from "../accounts-context.ts";
import { passwordRequired } from "../create-authentication.ts";
import { requireSecondFactor } from "../second-factor/require-second-factor.ts";
import { verifyPassword } from "../password.ts";
import { personalHeaders } from "../sessions/start-session.ts";
import { ownUser } from "../users/own-account.ts";
import type { StoredUser } from "../users/define-user.ts";
import { nameOf } from "../users/profile.ts";
import { emailSchema } from "../users/user-fields.ts";
import { pageLink } from "./link.ts";
import { emailChanges, findToken } from "./mailed-tokens.ts";
import { readyMails } from "./ready-mails.ts";
import { confirmEmail } from "./use-token.ts";

const tag = "auth";

/** Makes the routes by which users confirm their address, and change it. */
export function emailRoutes(context: AccountsContext): readonly AccountRoute[] {
  const { linkOrigins, mails, store, user } = context;
  const totp = z.string().max(40).optional();

  return [
    defineRoute({
      method: "POST",
      path: "/users/:id/email",
      operation: "changeEmail",
      summary: "Change the email address",
      description:
        "Mails a link to the new address, which replaces the present one when it is confirmed",
      tag,
      access: "password",
      body: z.object({ email: emailSchema, link: pageLink(linkOrigins), totp }),
      responses: {
        202: { description: "The mail will be sent" },
        401: { description: "Email, password or code (`totp`) is missing or wrong" },
        404: { description: "User not found" },
        429: { description: "Too many mails for this user; see Retry-After" },
        503: { description: "Mails cannot be sent now" },
      },
      handle: async (call) => {
        const { id, sessionVersion } = await ownUser(context, call);
        if (sessionVersion !== call.user.sessionVersion) throw passwordRequired();
        const { link, totp: code } = call.body;
        await requireSecondFactor(context, call, { user: id, code });
        const ready = await readyMails(context);
        await countAlways(context.mailLimiter, `Address of ${id}`);
        const { email } = call.body;
        await ready.queue({ kind: "email-change", user: id, sessionVersion, email, link });
        return empty(202);
      },
    }),
    defineRoute({
      method: "PUT",
      path: "/email-changes/:token",
      operation: "confirmEmail",
      summary: "Confirm an email address",
      description:
        "After a sign-up it takes the password of that sign-up too, so that nobody confirms that of somebody else",
      tag,
      access: "public",
      body: z.object({ password: z.string().max(200).optional() }),
      responses: {
        200: { description: "The user", schema: user.changed },
        404: { description: "Token not found, used or expired" },
        409: { description: "Another user has this address now" },
        429: { description: "Too many requests or wrong passwords; see Retry-After" },
      },
      handle: async (call) => {
        const token = call.params["token"] ?? "";
        const holder = (await findToken(context, store, emailChanges, token))?.user;
        if (holder?.unconfirmed === true) await requirePassword(call, holder, call.body.password);
        const used = await confirmEmail(context, token);
        if (used === undefined) throw notFound("token");
        if (used === "taken") {
          throw new Problem(409, {
            errors: [fieldError("email", "unique", "email is already registered")],
          });
        }
        const { after, before } = used;
        if (after.email !== before.email) {
          const name = before.name ?? nameOf(before.email);
          await mails?.queue({ kind: "email-changed", email: before.email, name });
        }
        return json(user.present(after, { user: after }), { headers: personalHeaders });
      },
    }),
  ].map(accountRoute);
}

/** Refuses to confirm a sign-up without knowing its password: somebody else made that one. */
async function requirePassword(
  { attempts, context }: Pick<Call, "attempts" | "context">,
  { id, passwordHash }: Stored<StoredUser>,
  password: string | undefined,
): Promise<void> {
  if (password === undefined) {
    throw badFields([fieldError("password", "required", "password is required")]);
  }
  // Apart from those of signing in, which fail until then.
  const by = { account: `Sign-up of ${id}`, address: context.ip };
  if (await countAttempt(attempts, by, () => verifyPassword(password, passwordHash, "last")))
    return;
  throw badFields([fieldError("password", "invalid", "wrong password")]);
}
