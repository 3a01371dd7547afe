import { defineJob, jobCollections, type JobDefinition } from "@fetchwork/documents/jobs";
import type { Store } from "@fetchwork/documents";

/** Event that a job is about. */
export interface EventJobInput {
  readonly eventId: string;
  /** Events of one key are stored for endpoints one after the other. */
  readonly key?: string | undefined;
}

/**
 * The job that is queued with each event, and stores its deliveries. Nothing but a store that
 * refuses makes it fail, so it is tried again for about a week.
 */
export const eventJob: JobDefinition<EventJobInput> = defineJob<EventJobInput>("webhook-event", {
  concurrency: 16,
  key: ({ key }) => key,
  keep: 0,
  retries: 1000,
  backoff: { maxDelay: 600_000 },
});

/** The id of the job of an event, by which the event is known to be needed. */
export function eventJobId(eventId: string): string {
  return `webhook-event:${eventId}`;
}

/** Returns which of some events have a job that is not done. */
export async function eventsWithJobs(
  store: Store,
  eventIds: readonly string[],
): Promise<ReadonlySet<string>> {
  const jobs = await store.collection(jobCollections.jobs).getMany(eventIds.map(eventJobId));
  return new Set(eventIds.filter((_, index) => jobs[index] !== undefined));
}
