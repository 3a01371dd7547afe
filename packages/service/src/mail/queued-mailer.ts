import type { Transaction } from "@fetchwork/documents";
import { defineJob, type Jobs } from "@fetchwork/documents/jobs";
import { escapeHtml } from "@fetchwork/kit";
import type { Mailer } from "@fetchwork/rest/accounts";
import { z } from "zod";
import { ServiceError } from "../errors.ts";

/** A mail of the service to one person. */
export interface ServiceMail {
  /** One address, at most 254 characters. */
  readonly to: string;
  /** One line, at most 200 characters. */
  readonly subject: string;
  /** At most 100,000 characters. It waits in the database as it is: no place for tokens. */
  readonly text: string;
  /** At most 500,000 characters. Default: the paragraphs of `text`. */
  readonly html?: string | undefined;
}

/** The transaction that queues something. */
export interface InTransaction {
  readonly transaction?: Transaction | undefined;
}

/** Sends mails of the service. */
export interface QueuedMailer {
  /**
   * Queues a mail; resolves when the mail is stored. In a transaction, it is queued with its
   * changes, or not at all. Failures are logged, and temporary ones retried for about a day, as are
   * those of the service, such as a refused password.
   *
   * @throws InputError for an invalid mail, ServiceError where no mails are sent: without
   *   `mailSettings`, or in production without `SMTP_URL`.
   */
  send(mail: ServiceMail, options?: InTransaction): Promise<void>;
}

/** The name of the job that sends a mail. */
export const mailJobName = "service-mail";

const mailJob = defineJob<ServiceMail>(mailJobName, {
  schema: z.strictObject({
    to: z.email().max(254),
    subject: z
      .string()
      .min(1)
      .max(200)
      .regex(/^\P{Cc}*$/u, "subject must be one line"),
    text: z.string().max(100_000),
    html: z.string().max(500_000).optional(),
  }),
  concurrency: 5,
  timeout: 30_000,
  // About 23 hours.
  retries: 42,
  retryIf: (error) =>
    Reflect.get(Object(error), "isTemporary") !== false ||
    Reflect.get(Object(error), "isOfService") === true,
  keep: 0,
  keepDead: 0,
});

/** Queues mails, and sends what is queued after {@link start}. */
export class MailQueue implements QueuedMailer {
  readonly #jobs: Jobs;
  readonly #mailer: Mailer | undefined;

  constructor(jobs: Jobs, mailer: Mailer | undefined) {
    this.#jobs = jobs;
    this.#mailer = mailer;
  }

  async send(mail: ServiceMail, { transaction }: InTransaction = {}): Promise<void> {
    if (this.#mailer === undefined) {
      throw new ServiceError(
        "no mails are sent: config lacks mailSettings, or SMTP_URL is not set",
      );
    }
    await this.#jobs.add(mailJob, mail, { transaction });
  }

  start(): void {
    const mailer = this.#mailer;
    if (mailer === undefined) return;
    this.#jobs.work(mailJob, ({ html, ...mail }, { signal }) =>
      mailer.send({ ...mail, html: html ?? htmlOf(mail.text) }, signal),
    );
  }
}

function htmlOf(text: string): string {
  const paragraphs = text.trim().split(/\r?\n(?:\r?\n)+/);
  return paragraphs
    .map((each) => `<p>${escapeHtml(each).replaceAll(/\r?\n/g, "<br>")}</p>`)
    .join("\n");
}
