/** Why an endpoint is disabled. */
type DisabledReason = "manual" | "gone" | "failing";

/** A receiver of events, as it is stored. */
export interface EndpointRecord {
  readonly url: string;
  /** Tenant whose events it gets; absent for those of no tenant. */
  readonly tenant?: string | undefined;
  /** Subscribed topics, by which events look for the endpoint. */
  readonly topics: readonly string[];
  /** Names of events that it is subscribed to; absent for all. */
  readonly events?: readonly string[] | undefined;
  /** Secret and headers of deliveries: JSON, or sealed by the keys of `sealWith`. */
  readonly secrets: string;
  /** Names of those headers, in lower case. */
  readonly headerNames?: readonly string[] | undefined;
  /** Until when the secret before signs too; ISO 8601. */
  readonly previousSecretUntil?: string | undefined;
  readonly description?: string | undefined;
  readonly status: "enabled" | "disabled";
  readonly disabledReason?: DisabledReason | undefined;
  /** ISO 8601. */
  readonly disabledAt?: string | undefined;
  /** Since when every attempt has failed; ISO 8601. */
  readonly failingSince?: string | undefined;
}

/** How an endpoint fails, as it is stored; its id is that of the endpoint. */
export interface HealthRecord {
  /** Attempts in a row that failed. */
  readonly failures: number;
  /** When it gets its next attempt, where it is paused; ISO 8601. */
  readonly pausedUntil?: string | undefined;
}

/** Deliveries of one key to one endpoint that are not settled. */
export interface LaneRecord {
  /** Place of the last delivery that joined; changes with each that leaves, too. */
  readonly joined: number;
}

/** An event, as it is stored: exactly the bytes that are signed and sent. */
export interface EventRecord {
  readonly name: string;
  /** Tenant of the event; absent in a store without tenants. */
  readonly tenant?: string | undefined;
  /** Events of one key are delivered one after the other. */
  readonly key?: string | undefined;
  /** The body. */
  readonly payload: string;
}

/** One attempt to deliver. */
export interface DeliveryAttempt {
  /** When it began; ISO 8601. */
  readonly at: string;
  /** Milliseconds. */
  readonly duration: number;
  /** Status of the response, if there was one. */
  readonly status?: number | undefined;
  /** Code of the error when there was no response: `ERR_HTTP_TIMEOUT`, `ERR_HTTP_CONNECTION`, … */
  readonly error?: string | undefined;
  /** Why it failed, for people. */
  readonly reason?: string | undefined;
  /** The beginning of a response that is not a success, as one line of at most 500 characters. */
  readonly excerpt?: string | undefined;
}

/** Why a delivery was given up. */
export type DeadReason = "expired" | "gone" | "disabled" | "removed";

/** An event on its way to one endpoint. */
export interface DeliveryRecord {
  readonly eventId: string;
  readonly eventName: string;
  readonly endpointId: string;
  readonly status: "pending" | "delivered" | "dead";
  /**
   * Time of the next attempt; during an attempt, the time from which another process may take it
   * over; the end of the year 9999 while another delivery of its lane comes first. ISO 8601.
   */
  readonly dueAt: string;
  /** When it is given up; ISO 8601. */
  readonly expiresAt: string;
  /** Number of attempts, a running one included. */
  readonly attempts: number;
  /** The last attempts, oldest first; at most 20. */
  readonly history: readonly DeliveryAttempt[];
  /** Why it was given up. */
  readonly deadReason?: DeadReason | undefined;
  /** Endpoint and key of deliveries that wait for each other. */
  readonly lane?: string | undefined;
  /** Their order; a replay keeps it. */
  readonly place?: number | undefined;
  /** When it was delivered or given up; ISO 8601. */
  readonly settledAt?: string | undefined;
}
