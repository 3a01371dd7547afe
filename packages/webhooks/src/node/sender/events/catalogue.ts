import { closestName, type StandardSchema } from "@fetchwork/kit";
import { checkOptions } from "../../../check-options.ts";
import { optionError, WebhookUsageError } from "../../../errors.ts";
import { isEventName } from "../endpoints/subscriptions.ts";
import type { EventToSend } from "./event-to-send.ts";

/** Description of a kind of event, for receivers. */
export interface EventType {
  /** One sentence. */
  readonly description?: string | undefined;
  /** Checks each payload before storing it; it is sent as passed. Default: none. */
  readonly schema?: StandardSchema<unknown> | undefined;
  /** A payload to show, and to test an endpoint with. Default: none. */
  readonly example?: object | undefined;
}

/** Event types by name: `order` for all its events, `order.paid` for one action. */
export type EventTypes = Readonly<Record<string, EventType>>;

/** Events that can be sent. */
export interface Catalogue {
  /**
   * Checks an event.
   *
   * @throws WebhookUsageError `ERR_WEBHOOKS_EVENT_NAME` for an unknown name,
   *   `ERR_WEBHOOKS_ARGUMENT` for a payload that the schema refuses; the message has no values
   */
  check(event: Pick<EventToSend, "name" | "payload">): Promise<void>;
  /** Whether a filter of an endpoint takes any kind of event. */
  isUseful(filter: string): boolean;
  /**
   * Returns the example of a kind of event, as an event.
   *
   * @throws WebhookUsageError `ERR_WEBHOOKS_EVENT_NAME` for an unknown name,
   * `ERR_WEBHOOKS_ARGUMENT` where there is no example
   */
  exampleOf(type: string): Pick<EventToSend, "name" | "payload">;
}

const maxIssues = 5;

/**
 * Makes the catalogue of a sender. Without event types everything can be sent.
 *
 * @throws WebhookUsageError `ERR_WEBHOOKS_OPTION` for an invalid name or an unknown property
 */
export function createCatalogue(types: EventTypes | undefined): Catalogue {
  const known = new Map(Object.entries(types ?? {}));
  for (const [name, type] of known) {
    if (!isEventName(name)) throw optionError("eventTypes", name, "names of events");
    checkOptions<EventType>(`event type ${name}`, type, ["description", "schema", "example"]);
  }
  return {
    async check({ name, payload }) {
      if (types === undefined) return;
      const action = "action" in payload ? payload.action : undefined;
      const full = typeof action === "string" ? `${name}.${action}` : name;
      const type = known.get(full) ?? known.get(name);
      if (type === undefined) throw unknownName(full, [...known.keys()]);
      const outcome = await type.schema?.["~standard"].validate(payload);
      if (outcome?.issues === undefined) return;
      const places = outcome.issues.slice(0, maxIssues).map(({ path = [] }) => placeOf(path));
      const problem = `the payload of ${full} does not match its schema: ${places.join(", ")}`;
      throw new WebhookUsageError("ERR_WEBHOOKS_ARGUMENT", problem.slice(0, 500));
    },
    exampleOf(type) {
      if (!known.has(type)) throw unknownName(type, [...known.keys()]);
      const payload = known.get(type)?.example;
      if (payload === undefined) {
        const problem = `the event type ${type} has no example`;
        throw new WebhookUsageError("ERR_WEBHOOKS_ARGUMENT", problem);
      }
      const end = "action" in payload && typeof payload.action === "string" && `.${payload.action}`;
      return { name: end && type.endsWith(end) ? type.slice(0, -end.length) : type, payload };
    },
    isUseful(filter) {
      if (types === undefined) return true;
      const start = filter.endsWith(".*") ? filter.slice(0, -1) : `${filter}.`;
      return [...known.keys()].some(
        (name) => name === filter || name.startsWith(start) || filter.startsWith(`${name}.`),
      );
    },
  };
}

function unknownName(name: string, known: readonly string[]): WebhookUsageError {
  const closest = closestName(name, known);
  const hint = closest === undefined ? "" : `; did you mean ${closest}?`;
  return new WebhookUsageError(
    "ERR_WEBHOOKS_EVENT_NAME",
    `no event type is named ${name.slice(0, 128)}${hint}`,
  );
}

function placeOf(path: readonly unknown[]): string {
  const keys = path.map((part) =>
    String(typeof part === "object" && part !== null && "key" in part ? part.key : part),
  );
  return keys.length === 0 ? "the payload" : keys.join(".");
}
