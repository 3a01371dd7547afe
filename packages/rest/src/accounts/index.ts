export type {
  Code,
  OwnUser,
  SecondFactorResponse,
  SessionResponse,
  ShownKey,
  ShownLink,
  ShownPasskey,
  ShownSession,
  ShownUser,
  UserInput,
} from "./account-operations.ts";
export { accountRoute, type AccountRoute } from "./account-route.ts";
export {
  accountAuthRoutes,
  type AccountParts,
  type Accounts,
  accounts,
  type AccountsOptions,
  type AccountsSettings,
  type OpenAccounts,
} from "./accounts.ts";
export type { AccountsContext } from "./accounts-context.ts";
export type { AccountMail, Mailer } from "./mails/account-mails.ts";
export { type AccountTexts, accountTexts } from "./mails/mail-texts.ts";
export { escapeHtml } from "@fetchwork/kit";
export { sessionSchema } from "./sessions/auth-routes.ts";
export { createPageCookie } from "./sessions/page-cookie.ts";
export { personalHeaders, startSession } from "./sessions/start-session.ts";
export { nameOf } from "./users/profile.ts";
export { createUserController, type UserController } from "./users/user-controller.ts";
export { userRoutes } from "./users/user-routes.ts";
export { defineUser, type UserOptions, type UserResource } from "./users/define-user.ts";
