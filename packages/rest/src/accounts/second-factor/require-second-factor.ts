import { countAttempt } from "../../attempt-limiter.ts";
import { basicChallenge } from "../../basic-challenge.ts";
import { fieldError } from "../../field-error.ts";
import { Problem } from "../../problem.ts";
import type { Call } from "../../resource/call.ts";
import type { AccountsContext } from "../accounts-context.ts";

/**
 * Asks for the second factor of a user who has one.
 *
 * @throws Problem 401 that names the field `totp` for a code that is missing or wrong, 429 after
 * too many wrong ones.
 */
export async function requireSecondFactor(
  { factors }: Pick<AccountsContext, "factors">,
  { attempts, context }: Pick<Call, "attempts" | "context">,
  { code, user }: { readonly user: string; readonly code: string | undefined },
): Promise<void> {
  if (!(await factors.isOn(user))) return;
  if (code === undefined)
    throw codeProblem("required", "totp is required: the code of the second factor");
  // No email has such a name: emails are in lower case.
  const by = { account: `Second factor of ${user}`, address: context.ip };
  if (!(await countAttempt(attempts, by, () => factors.take(user, code)))) throw wrongCode();
}

/** Refuses a code of the second factor. */
export function wrongCode(): Problem {
  return codeProblem("invalid", "wrong code (totp)");
}

function codeProblem(name: string, message: string): Problem {
  return new Problem(401, {
    errors: [fieldError("totp", name, message)],
    headers: basicChallenge,
  });
}
