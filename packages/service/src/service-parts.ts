import type { Store } from "@fetchwork/documents";
import type { Jobs } from "@fetchwork/documents/jobs";
import type { Sender } from "@fetchwork/webhooks/sender";
import type { QueuedMailer } from "./mail/queued-mailer.ts";

/** Parts that calls, jobs and receivers of a service work with. */
export interface ServiceParts {
  readonly store: Store;
  /** Queues jobs. */
  readonly jobs: Jobs;
  /** Sends mails of the service; those of accounts are sent by themselves. */
  readonly mailer: QueuedMailer;
  /** Sends webhooks. Without `webhooks` of the service, its use throws a ServiceError. */
  readonly sender: Sender;
}

declare module "@fetchwork/rest" {
  // Members of the calls of a service in addition to those of `createApi`, which have the store
  // already.
  interface CallServices {
    readonly jobs: Jobs;
    readonly mailer: QueuedMailer;
    readonly sender: Sender;
  }
}
