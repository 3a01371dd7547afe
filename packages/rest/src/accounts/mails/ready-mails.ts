import { Problem } from "../../problem.ts";
import type { AccountsContext } from "../accounts-context.ts";
import type { AccountMails } from "./account-mails.ts";

/**
 * Finds what sends mails.
 *
 * @throws Problem 503 where there is nothing that does, and while too many wait.
 */
export async function readyMails({ mails }: Pick<AccountsContext, "mails">): Promise<AccountMails> {
  if (mails === undefined)
    throw new Problem(503, { detail: "no mails can be sent: none are set up" });
  if (!(await mails.isBusy())) return mails;
  const headers = { "retry-after": "60" };
  throw new Problem(503, { detail: "the server of mails is slow", headers });
}
