export {
  type AccountOperation,
  accountRoute,
  type AccountRoute,
  type Code,
  type SecondFactorAnswer,
  type SessionAnswer,
  type ShownKey,
  type ShownPasskey,
  type ShownSession,
  type UserInput,
} from "./account-operations.ts";
export {
  accountAuthRoutes,
  type AccountParts,
  type Accounts,
  accounts,
  type AccountsOptions,
  type AccountsSettings,
  type OpenAccounts,
} from "./accounts.ts";
export type { AccountsContext, OnForget, OpenTo } from "./accounts-context.ts";
export type { AccountMail, Mailer, MailOrder } from "./mails/account-mails.ts";
export {
  type AccountTexts,
  accountTexts,
  escapeHtml,
  type MailFacts,
  type MailText,
  type MailWriter,
} from "./mails/mail-texts.ts";
export type { Session, SignInMethod } from "./sessions/session.ts";
export { passwordRequired } from "./create-authentication.ts";
export type { ApiKey } from "./keys/api-key.ts";
export { pageLink } from "./mails/link.ts";
export { countMail, readyMails } from "./mails/ready-mails.ts";
export type { Passkey } from "./passkeys/passkey.ts";
export type { Passkeys } from "./passkeys/passkeys.ts";
export { requireSecondFactor, wrongCode } from "./second-factor/require-second-factor.ts";
export { sessionSchema } from "./sessions/auth-routes.ts";
export { createPageCookie } from "./sessions/page-cookie.ts";
export { requireRecentSignIn } from "./sessions/recent-sign-in.ts";
export { isSameOrigin } from "./sessions/same-origin.ts";
export { clientOf, personalHeaders, startSession } from "./sessions/start-session.ts";
export { claimUser } from "./users/claim-user.ts";
export {
  type AfterForget,
  type ForgetOptions,
  forgetUser,
  forgetUserIn,
} from "./users/forget-user.ts";
export {
  type AccountCall,
  ownUser,
  ownUserOrAdmin,
  refuseKeys,
  userIdOf,
} from "./users/own-account.ts";
export { nameOf } from "./users/profile.ts";
export { emailSchema, passwordSchema } from "./users/user-fields.ts";
export {
  createUserController,
  type NewPassword,
  type UserController,
} from "./users/user-controller.ts";
export { whileSignedIn } from "./users/while-signed-in.ts";
export { userRoutes } from "./users/user-routes.ts";
export {
  defineUser,
  type NewUser,
  type OwnUser,
  type ShownUser,
  type StoredUser,
  type UserFields,
  type UserOptions,
  type UserResource,
} from "./users/define-user.ts";
