import type { Store, Stored } from "@fetchwork/documents";
import { createJobs, defineJob, type JobWorker } from "@fetchwork/documents/jobs";
import type { StoredUser, UserResource } from "../users/define-user.ts";
import { nameOf } from "../users/profile.ts";
import { type AccountTexts, type MailText, nameInMail } from "./mail-texts.ts";
import { emailChanges, issueToken, passwordResets } from "./mailed-tokens.ts";

/** A mail to one person. */
export interface AccountMail extends MailText {
  readonly to: string;
}

/** Sends mails, such as by nodemailer. */
export interface Mailer {
  /**
   * Resolves when the mail server has accepted the mail. The signal aborts the attempt.
   *
   * An error with `isTemporary: false` says that another attempt would not succeed either.
   */
  send(mail: AccountMail, signal: AbortSignal): Promise<void>;
}

/** A mail that waits to be written and sent. It holds no token. */
export type MailOrder =
  | { readonly kind: "password-reset"; readonly email: string; readonly link: string }
  | { readonly kind: "sign-up"; readonly email: string; readonly link: string }
  | {
      readonly kind: "email-change";
      readonly user: string;
      /** The user's session version when it was asked for: with another one, it is not sent. */
      readonly sessionVersion: number;
      readonly email: string;
      readonly link: string;
    }
  | { readonly kind: "email-changed"; readonly email: string; readonly name: string };

/** Sends the mails of accounts, which are queued in the store: they outlive the process. */
export interface AccountMails {
  /** Whether too many mails wait to take another one: the server is slow or does not respond. */
  isBusy(): Promise<boolean>;
  /** Resolves when the mail is queued, whether somebody has the address or not. */
  queue(order: MailOrder): Promise<void>;
  /** Sends what is queued, also by a process that ended. */
  start(): void;
  /** Stops; what is not sent stays queued. */
  stop(): Promise<void>;
}

/** Maximum number of mails that wait. */
const maxWaiting = 20;

/** Milliseconds for the response to go out: SQLite in this thread would show who exists. */
const responseTime = 200;

/**
 * The token of a mail is made when it is sent, so that none is in the queue. Nothing stays of a
 * mail that is sent, or given up after about ten minutes.
 */
const mailJob = defineJob<MailOrder>("account-mail", {
  concurrency: maxWaiting,
  timeout: 30_000,
  retries: 6,
  backoff: { baseDelay: 1_000, factor: 4, maxDelay: 300_000 },
  retryIf: (error) => Reflect.get(Object(error), "isTemporary") !== false,
  keep: 0,
  keepDead: 0,
});

/** Options of {@link createAccountMails}. */
export interface AccountMailsOptions {
  readonly store: Store;
  readonly user: UserResource;
  readonly mailer: Mailer;
  readonly texts: AccountTexts;
  /** Name of the application. */
  readonly title: string;
  /** Receives why a mail was given up. */
  readonly report: (error: unknown) => void;
}

/** Makes {@link AccountMails}. */
export function createAccountMails(options: AccountMailsOptions): AccountMails {
  const { mailer, report, store, texts, title, user } = options;
  const users = store.collection(user.collection);
  const jobs = createJobs(store, {
    onError: (error, failure) => {
      if (failure?.isDead !== false) report(error);
    },
  });
  let worker: JobWorker | undefined;

  return {
    async isBusy() {
      const lists = await Promise.all(
        (["waiting", "delayed"] as const).map((state) =>
          jobs.list({ state, job: mailJob.name, limit: maxWaiting }),
        ),
      );
      return lists.flatMap(({ items }) => items).length >= maxWaiting;
    },
    async queue(order) {
      start();
      await jobs.add(mailJob, order, { delay: responseTime });
    },
    start,
    stop: () => jobs.close({ grace: 1_000 }),
  };

  function start(): void {
    worker ??= jobs.work(mailJob, async (order, { signal }) => {
      const mail = await write(order);
      if (mail !== undefined) await mailer.send(mail, signal);
    });
  }

  /** Writes a mail; `undefined` if it is no longer needed. */
  async function write(order: MailOrder): Promise<AccountMail | undefined> {
    const { email: to, kind } = order;
    if (kind === "email-changed") {
      return { to, ...texts.emailChanged({ title, name: nameInMail(order.name), link: "" }) };
    }
    const found = kind === "email-change" ? await users.get(order.user) : await byEmail(to);
    if (found === undefined) return undefined;
    if (order.kind === "email-change" && found.sessionVersion !== order.sessionVersion) {
      return undefined;
    }
    const facts = { title, name: nameInMail(found.name ?? nameOf(found.email)), link: "" };
    if (kind === "sign-up" && found.unconfirmed !== true) {
      return { to, ...texts.knownAddress(facts) };
    }
    const isReset = kind === "password-reset";
    const token = await issueToken(options, isReset ? passwordResets : emailChanges, found, to);
    const link = `${order.link}/${token}`;
    return { to, ...(isReset ? texts.passwordReset : texts.confirmEmail)({ ...facts, link }) };
  }

  async function byEmail(email: string): Promise<Stored<StoredUser> | undefined> {
    const [found] = await users.find({ where: { email }, limit: 1 });
    return found;
  }
}
