/** An event to be sent. */
export interface EventToSend {
  /** Letters, digits and `_.:/-`; at most 128. */
  readonly name: string;
  /** Sent as JSON. Filters of endpoints use its `action`, when it is a string. */
  readonly payload: object;
  /**
   * Identifies the event: 1 to 64 letters, digits, `_` and `-`. Sending the same event again under
   * the same identifier stores nothing new. Default: a random UUID.
   */
  readonly id?: string | undefined;
  /**
   * Tenant of the event: 1 to 64 letters, digits, `_` and `-`. It goes to endpoints of that tenant
   * only, and an event without one to endpoints without one. A tenant that sends much does not
   * delay the events of others. Default: none.
   */
  readonly tenant?: string | undefined;
  /**
   * Subject of the event, such as the id of an order, of 1 to 128 characters: each endpoint gets
   * the events of one key one after the other, in the order in which they were sent. While one is
   * tried again, the later ones wait until it is delivered or given up. Default: none, and events
   * are not ordered.
   */
  readonly key?: string | undefined;
}
