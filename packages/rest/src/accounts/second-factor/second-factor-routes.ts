import { empty, json } from "@fetchwork/http";
import { z } from "zod";
import { defineRoute } from "../../plan/route.ts";
import { notFound, Problem } from "../../problem.ts";
import { type AccountRoute, accountRoute } from "../account-operations.ts";
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
  const isOn = { description: "It is on already" };

  return [
    defineRoute({
      method: "POST",
      path,
      operation: "enableSecondFactor",
      summary:
        "Begins a second factor (TOTP) of the caller; with a first code of it, switches it on",
      tag,
      access: "password",
      body: code,
      responses: {
        200: {
          description: "It is on; with each recovery code the user can sign in once without it",
          schema: {
            type: "object",
            properties: { recoveryCodes: { type: "array", items: { type: "string" } } },
            required: ["recoveryCodes"],
          },
        },
        201: {
          description: "The secret for the authenticator; nothing is asked for yet",
          schema: {
            type: "object",
            properties: {
              secret: { type: "string", description: "In base32, to be typed" },
              uri: { type: "string", description: "The same as an address, for a QR code" },
            },
            required: ["secret", "uri"],
          },
        },
        401: { description: "Email, password or code (`totp`) is missing or wrong" },
        409: isOn,
      },
      handle: async (call) => {
        const { id, email } = await ownUser(context, call);
        if (await factors.isOn(id)) throw new Problem(409, { detail: "the second factor is on" });
        const { totp } = call.body;
        if (totp === undefined) {
          const enrolment = await factors.enrol(id, email);
          return json(enrolment, { status: 201, headers: personalHeaders });
        }
        const recoveryCodes = await factors.confirm(id, totp);
        if (recoveryCodes === undefined) throw wrongCode();
        return json({ recoveryCodes }, { headers: personalHeaders });
      },
    }),
    defineRoute({
      method: "DELETE",
      path,
      operation: "disableSecondFactor",
      summary:
        "Switches the second factor of the caller off, by a code of it; admins that of others",
      tag,
      access: "user",
      body: code,
      responses: {
        204: { description: "It is off" },
        401: { description: "The code (`totp`) is missing or wrong" },
        404: { description: "There is no such user, or it is off" },
      },
      handle: async (call) => {
        const { id } = await ownUserOrAdmin(context, call);
        if (id === call.user.id) {
          await requireSecondFactor(context, call, { user: id, code: call.body.totp });
        }
        if (!(await factors.remove(id))) throw notFound();
        return empty();
      },
    }),
  ].map(accountRoute);
}
