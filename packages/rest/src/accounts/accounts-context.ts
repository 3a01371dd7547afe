import type { Store } from "@fetchwork/documents";
import type { AttemptLimiter } from "../attempt-limiter.ts";
import type { AccountMails } from "./mails/account-mails.ts";
import type { ApiKeys } from "./keys/api-keys.ts";
import type { Passkeys } from "./passkeys/passkeys.ts";
import type { SecondFactors } from "./second-factor/second-factors.ts";
import type { Sessions } from "./sessions/sessions.ts";
import type { UserResource } from "./users/define-user.ts";

/** Callers who may create users or authenticate them: holders of the master key, or everyone. */
export type OpenTo = "master" | "public";

/** Parts that the routes of accounts work with. */
export interface AccountsContext {
  readonly user: UserResource;
  readonly store: Store;
  readonly signUp: OpenTo;
  readonly signIn: OpenTo;
  /** Whether browsers reach the API by HTTPS, so that cookies are sent by nothing else. */
  readonly isSecure: boolean;
  readonly sessions: Sessions;
  readonly keys: ApiKeys;
  readonly factors: SecondFactors;
  /** Absent without an origin. */
  readonly passkeys: Passkeys | undefined;
  /** Absent without a mailer. */
  readonly mails: AccountMails | undefined;
  /** Origins that links in mails may lead to. Default: all. */
  readonly linkOrigins: readonly string[] | undefined;
  /** Limits how often mails are asked for. Absent, nothing does. */
  readonly mailLimiter: AttemptLimiter | undefined;
  readonly signUpLimiter: AttemptLimiter;
}
