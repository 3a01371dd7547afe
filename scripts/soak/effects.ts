import { defineCollection } from "@fetchwork/documents";

/** What the receiver did for a webhook. */
export interface Effect {
  /** Identifier of the event. No index makes it unique. */
  readonly event: string;
  readonly action: string;
  /** Reference of the transfer, identifier of the note. */
  readonly about: string;
}

export const effects = defineCollection<Effect>("effects");
