/**
 * The events of a vendor: an interface from event names to payloads.
 *
 * A key is an event (`issues`), or an event and its action (`issues.opened`). A name whose part
 * before the first dot is not a key is an event without action: `invoice.paid`.
 */
export type EventMap = object;

/** A payload with unknown fields. */
export interface UnknownPayload {
  readonly [field: string]: unknown;
}

/** Events of any name, where the names are the sender's. */
export interface UntypedEvents {
  readonly [name: string]: UnknownPayload;
}

/** The names that handlers can be registered for. */
export type EventName<Events extends EventMap> = keyof Events & string;

/** The event of a name: `issues` of `issues.opened`. */
type BaseName<Events extends EventMap, Name extends string> = string extends keyof Events
  ? Name
  : Name extends `${infer Event}.${string}`
    ? Event extends keyof Events
      ? Event
      : Name
    : Name;

/** The payload of a name. */
export type Payload<Events extends EventMap, Name extends string> = Name extends keyof Events
  ? Events[Name]
  : UnknownPayload;

/** An event as handlers of `Name` get it. */
export type WebhookEvent<
  Events extends EventMap,
  Name extends string = EventName<Events>,
> = Name extends unknown
  ? {
      /** Identifier of the delivery. Not signed by every vendor. */
      readonly id: string;
      /** The event without its action. */
      readonly name: BaseName<Events, Name>;
      /** The parsed body. */
      readonly payload: Payload<Events, Name>;
    }
  : never;

/** Names that are events, not actions of one. */
export type TopLevelName<Events extends EventMap> = {
  [Name in EventName<Events>]: BaseName<Events, Name> extends Name ? Name : never;
}[EventName<Events>];

/** Any event of a vendor: a union that narrows by `name`. */
export type AnyEvent<Events extends EventMap> = WebhookEvent<Events, TopLevelName<Events>>;

/** An event with an unknown payload. */
export interface UntypedEvent {
  /** Identifier of the delivery. */
  readonly id: string;
  /** The event without its action. */
  readonly name: string;
  /** The parsed body. */
  readonly payload: UnknownPayload;
}
