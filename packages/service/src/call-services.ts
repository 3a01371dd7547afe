import type { Transaction } from "@fetchwork/documents";
import type { CallServices } from "@fetchwork/rest";
import type { InTransaction } from "./mail/queued-mailer.ts";
import type { ServiceParts } from "./service-parts.ts";

/**
 * Makes the services of a call. Jobs, mails and events are queued in its transaction, if there is
 * one, unless the caller names another one.
 */
export function callServices(
  { jobs, mailer, sender }: ServiceParts,
  current: () => Transaction | undefined,
): CallServices {
  // Other options stay, too.
  const within = (options?: InTransaction): InTransaction => ({
    ...options,
    transaction: options?.transaction ?? current(),
  });
  return {
    jobs: withMethod(jobs, "add", (job, input, options) => jobs.add(job, input, within(options))),
    mailer: { send: (mail, options) => mailer.send(mail, within(options)) },
    sender: withMethod(sender, "send", (event, options) => sender.send(event, within(options))),
  };
}

/** Replaces a method of an object, which may have private members. */
function withMethod<T extends object, N extends keyof T>(target: T, name: N, method: T[N]): T {
  return new Proxy(target, {
    get(_, wanted) {
      if (wanted === name) return method;
      const member: unknown = Reflect.get(target, wanted);
      return typeof member === "function" ? (member.bind(target) as unknown) : member;
    },
  });
}
