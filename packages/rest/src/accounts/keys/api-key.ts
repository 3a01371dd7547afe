import { defineCollection, type CollectionDefinition } from "@fetchwork/documents";

/** A key with which programs act for a user. */
export interface ApiKey {
  readonly user: string;
  /** Name that the user chose for the key. */
  readonly name: string;
  /** SHA-256 of its secret part, in hex. The key itself is not stored. */
  readonly hash: string;
  /** Scopes of the key: `articles:read`, `articles:write`, `*:read`, `*:write`. */
  readonly scopes: readonly string[];
  /** Time when it was last used, to the minute, in milliseconds since 1970; `null` before. */
  readonly usedAt: number | null;
  /** Time when it expires, in milliseconds since 1970. Default: never. */
  readonly expiresAt?: number | undefined;
}

/** Where keys are kept until they expire. */
export const apiKeyCollection: CollectionDefinition<ApiKey> = defineCollection<ApiKey>("api-keys", {
  indexes: ["user"],
  expires: { field: "expiresAt" },
});
