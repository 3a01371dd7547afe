import type { Store } from "@fetchwork/documents";
import { createJobs, defineJob, type JobWorker } from "@fetchwork/documents/jobs";
import { MailError, type Mailer } from "../../services/mailer.ts";
import { user } from "../user/model.ts";
import { resetMail } from "./message.ts";
import { resets, type NewReset } from "./model.ts";

/** Sends mails with tokens, which are queued in the store: they outlive the process. */
export interface ResetMails {
  /** Resolves to whether so many mails wait that no more are taken; then the server does not answer, or slowly. */
  isBusy(): Promise<boolean>;
  /** Resolves when the mail is queued, whether somebody has the address or not. */
  queue(reset: NewReset): Promise<void>;
  /** Sends what is queued, also by a process that ended. */
  start(): void;
  /** Stops; what is not sent stays queued. */
  stop(): Promise<void>;
}

/** Maximum number of mails that wait. */
const maxWaiting = 20;
/** Milliseconds in which the answer goes out: SQLite works in this thread, and would hold it up for those who exist. */
const answerTime = 200;

/**
 * A mail that somebody asked for. The token is made when it is sent, so that none is in the queue, and nothing of it stays
 * when it is sent or given up, about ten minutes later.
 */
const resetJob = defineJob<NewReset>("password-reset-mail", {
  concurrency: maxWaiting,
  timeout: 30_000,
  retries: 6,
  backoff: { baseDelay: 1_000, factor: 4, maxDelay: 300_000 },
  retryIf: (error) => !(error instanceof MailError) || error.isTemporary,
  keep: 0,
  keepDead: 0,
});

/** Makes {@link ResetMails}. `report` receives why a mail was given up. */
export function createResetMails(
  store: Store,
  mailer: Mailer,
  report: (error: unknown) => void = console.error,
): ResetMails {
  const jobs = createJobs(store, {
    onError: (error, failure) => {
      if (failure?.isDead !== false) report(error);
    },
  });
  let worker: JobWorker | undefined;
  const start = (): void => {
    worker ??= jobs.work(resetJob, ({ email, link }, { signal }) =>
      sendReset(store, { email, link }, (mail) => mailer.send(mail, signal)),
    );
  };
  return {
    async isBusy() {
      const lists = await Promise.all(
        (["waiting", "delayed"] as const).map((state) =>
          jobs.list({ state, job: resetJob.name, limit: maxWaiting }),
        ),
      );
      return lists.flatMap(({ items }) => items).length >= maxWaiting;
    },
    async queue(reset) {
      start();
      await jobs.add(resetJob, reset, { delay: answerTime });
    },
    start,
    stop: () => jobs.close({ grace: 1_000 }),
  };
}

async function sendReset(
  store: Store,
  { email, link }: NewReset,
  send: Mailer["send"],
): Promise<void> {
  const [found] = await store.collection(user.collection).find({ where: { email }, limit: 1 });
  if (!found) return;
  const token = await resets.issue(store, found);
  await send(resetMail(email, found.name, `${link}/${token}`));
}
