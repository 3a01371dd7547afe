import { empty, json } from "@fetchwork/http";
import { z } from "zod";
import { defineRoute } from "../../plan/route.ts";
import { notFound, Problem } from "../../problem.ts";
import { type AccountRoute, accountRoute } from "../account-route.ts";
import type { AccountsContext } from "../accounts-context.ts";
import { personalHeaders } from "../sessions/start-session.ts";
import { ownUser, ownUserOrAdmin } from "../users/own-account.ts";
import { requireSecondFactor, wrongCode } from "./require-second-factor.ts";

const tag = "auth";
const path = "/users/:id/totp";
const code = z.object({ totp: z.string().max(40).optional() });

/** Makes the routes by which users switch their second factor on and off. */
export function secondFactorRoutes(context: AccountsContext): readonly AccountRoute[] {
  const { factors } = context;
  const isOn = { description: "Already enabled" };

  return [
    defineRoute({
      method: "POST",
      path,
      operation: "enableSecondFactor",
      summary: "Enable the second factor (TOTP)",
      description:
        "Without `totp`, returns the secret for the authenticator app; with a first code from it, enables the second factor",
      tag,
      access: "password",
      body: code,
      responses: {
        200: {
          description: "Enabled. Each recovery code replaces the code for one sign-in",
          schema: {
            type: "object",
            properties: { recoveryCodes: { type: "array", items: { type: "string" } } },
            required: ["recoveryCodes"],
          },
        },
        201: {
          description: "The secret for the authenticator app; not enabled yet",
          schema: {
            type: "object",
            properties: {
              secret: { type: "string", description: "In base32, to type in" },
              uri: { type: "string", description: "As a URI, for a QR code" },
            },
            required: ["secret", "uri"],
          },
        },
        401: { description: "Email, password or code (`totp`) is missing or wrong" },
        404: { description: "User not found" },
        409: isOn,
      },
      handle: async (call) => {
        const { id, email } = await ownUser(context, call);
        if (await factors.isOn(id))
          throw new Problem(409, { detail: "the second factor is already enabled" });
        const { totp } = call.body;
        if (totp === undefined) {
          const enrolment = await factors.enrol(call.user, email);
          return json(enrolment, { status: 201, headers: personalHeaders });
        }
        const recoveryCodes = await factors.confirm(call.user, totp);
        if (recoveryCodes === undefined) throw wrongCode();
        return json({ recoveryCodes }, { headers: personalHeaders });
      },
    }),
    defineRoute({
      method: "DELETE",
      path,
      operation: "disableSecondFactor",
      summary: "Disable the second factor",
      description:
        "Needs a current code of the caller (`me`); admins disable that of other users without one",
      tag,
      access: "user",
      body: code,
      responses: {
        204: { description: "Disabled" },
        401: { description: "The code (`totp`) is missing or wrong" },
        404: { description: "User not found, or not enabled" },
        429: { description: "Too many wrong codes for this user; see Retry-After" },
      },
      handle: async (call) => {
        const { id } = await ownUserOrAdmin(context, call);
        if (id === call.user.id) {
          await requireSecondFactor(context, call, { user: id, code: call.body.totp });
        }
        if (!(await factors.remove(id))) throw notFound("second factor");
        return empty();
      },
    }),
  ].map(accountRoute);
}
