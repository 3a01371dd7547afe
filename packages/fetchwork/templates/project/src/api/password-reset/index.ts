// #if resets
import { defineRoute, type Route } from "@fetchwork/rest";
import type { SignInLimits } from "../../services/sign-in-limits.ts";
import { newPassword, user } from "../user/model.ts";
import { createResetController } from "./controller.ts";
import { newReset, shownReset } from "./model.ts";
import type { ResetMails } from "./reset-mails.ts";

const tag = "password-resets";
const missing = { description: "No such token, or it is used or expired" };
const tooMany = { description: "Too many requests from this address; see Retry-After" };

/** How resets work here. */
export interface ResetOptions {
  /** Without one nobody can ask for a reset. */
  readonly mails?: ResetMails | undefined;
  /** Origins that links in mails may lead to. Default: all. */
  readonly linkOrigins?: readonly string[] | undefined;
  /** How often mails may be asked for. Default: any number of times. */
  readonly limits?: SignInLimits | undefined;
}

/** Makes the routes by which users set a password that they have lost. */
export function passwordResetRoutes({
  mails,
  linkOrigins,
  limits = {},
}: ResetOptions): readonly Route[] {
  const controller = createResetController(mails, limits);
  return [
    defineRoute({
      method: "POST",
      path: "/password-resets",
      operation: "createPasswordReset",
      summary: "Mails a link with a token to the user of an address, if there is one",
      tag,
      access: "master",
      body: newReset(linkOrigins),
      responses: {
        202: { description: "The mail is on its way, or nobody has that address" },
        429: { description: "Too many mails for that address; see Retry-After" },
        503: { description: "No mails can be sent now" },
      },
      handle: controller.create,
    }),
    defineRoute({
      method: "GET",
      path: "/password-resets/:token",
      operation: "showPasswordReset",
      summary: "Shows whose password a token sets",
      tag,
      access: "public",
      responses: {
        200: { description: "The user", schema: shownReset },
        404: missing,
        429: tooMany,
      },
      handle: controller.show,
    }),
    defineRoute({
      method: "PUT",
      path: "/password-resets/:token",
      operation: "usePasswordReset",
      summary: "Sets the password, signs the user out everywhere and ends all its resets",
      tag,
      access: "public",
      body: newPassword,
      responses: {
        200: { description: "The user", schema: user.changed },
        404: missing,
        429: tooMany,
        503: { description: "Too many passwords to hash" },
      },
      handle: controller.update,
    }),
  ];
}
// #endif
