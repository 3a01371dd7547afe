import { type CollectionDefinition, defineCollection } from "@fetchwork/documents";

/** Up to where a migration ran. */
export interface Progress {
  /** Number of the migration's collection, from 0. */
  readonly step: number;
  /** The last id. */
  readonly after: string;
  /** How many documents it changed. */
  readonly changed: number;
}

/** The collection with the migrations that have begun and not ended. */
export const progressCollection: CollectionDefinition<Progress> =
  defineCollection<Progress>("fetchwork_migrations");
