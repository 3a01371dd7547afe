import { setTimeout as pause } from "node:timers/promises";
import type { AccountMail, Mailer } from "@fetchwork/rest/accounts";

/** Keeps mails instead of sending them. */
export interface MailBox {
  readonly mailer: Mailer;
  readonly mails: readonly AccountMail[];
  /** Waits for a mail that was not returned before. */
  readonly next: (to: string) => Promise<AccountMail>;
}

/** How long a mail is waited for, and how often it is looked for. In milliseconds. */
const maxWait = 5_000;
const interval = 10;

/** Makes a {@link MailBox}. */
export function createMailBox(): MailBox {
  const mails: AccountMail[] = [];
  const seen = new Set<AccountMail>();
  return {
    mailer: {
      send(mail) {
        mails.push(mail);
        return Promise.resolve();
      },
    },
    mails,
    async next(to) {
      for (let waited = 0; waited < maxWait; waited += interval) {
        const found = mails.find((mail) => mail.to === to && !seen.has(mail));
        if (found !== undefined) {
          seen.add(found);
          return found;
        }
        await pause(interval);
      }
      throw new Error(`no further mail to ${to} came within ${maxWait} ms`);
    },
  };
}
