/** A delivery as it is printed. */
export interface SeenDelivery {
  readonly at: string;
  readonly id: string;
  readonly event: string;
  /** Whether the signature is valid; absent when there is no secret. */
  readonly verified?: boolean;
  /** Status of the response. */
  readonly status: number;
  /** Why it was refused, when it was. */
  readonly reason?: string;
  readonly bytes: number;
  /** The payload: parsed JSON or form, otherwise the text; absent when it is not text. */
  readonly payload: unknown;
  /** Where it was saved. */
  readonly file?: string;
  /** Its number among those that were forwarded, from 1. */
  readonly number?: number;
  /** How long forwarding took. */
  readonly milliseconds?: number;
}
