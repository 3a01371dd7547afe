import type { Store } from "@fetchwork/documents";
import type { RateLimitStore } from "@fetchwork/middleware";
import {
  createAttemptLimiter,
  documentsAttemptStore,
  documentsRateLimitStore,
  type AttemptLimiter,
} from "@fetchwork/rest";
import type { StartSettings } from "../settings/start-settings.ts";

/** Limits of what outsiders may try for an account. */
export interface SignInLimits {
  /** For passwords. Absent, there is no limit. */
  readonly passwords?: AttemptLimiter | undefined;
  /** For mails with links: five, then one every quarter of an hour or longer. */
  readonly mails?: AttemptLimiter | undefined;
  /** For open sign-ups of a network: 100, then one per 10 to 60 s. Default: per process. */
  readonly signUps?: AttemptLimiter | undefined;
  /** Counts the requests of an address. Absent, each process counts for itself. */
  readonly requests?: RateLimitStore | undefined;
}

/**
 * Makes the limits: in memory, or in the documents where these are in a database that several
 * processes share.
 */
export function createSignInLimits(
  store: Store,
  { databaseUrl, signInFailures }: Pick<StartSettings, "databaseUrl" | "signInFailures">,
): SignInLimits {
  const isShared = /^postgres/i.test(databaseUrl);
  const requests = isShared ? documentsRateLimitStore(store) : undefined;
  if (signInFailures === 0) return { requests };
  const kept = isShared ? { store: documentsAttemptStore(store) } : {};
  return {
    requests,
    passwords: createAttemptLimiter({ limit: signInFailures, ...kept }),
    signUps: createAttemptLimiter({ limit: 100, firstDelay: 10, maxDelay: 60, ...kept }),
    mails: createAttemptLimiter({ limit: 5, firstDelay: 900, maxDelay: 3_600, ...kept }),
  };
}
