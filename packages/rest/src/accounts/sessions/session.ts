import { defineCollection, type CollectionDefinition } from "@fetchwork/documents";
import type { SignInMethod } from "../account-operations.ts";

/** A client that a user is signed in with. */
export interface Session {
  readonly user: string;
  /** The user's session version at the time: with another one the session has ended. */
  readonly sessionVersion: number;
  readonly method: SignInMethod;
  /** Address of the client as last seen, or `null`. */
  readonly address: string | null;
  /** Its `User-Agent`, or `null`. */
  readonly agent: string | null;
  /** How often its token was refreshed. */
  readonly generation: number;
  /** Time of the last sign-in or refresh, in milliseconds since 1970. */
  readonly usedAt: number;
  /** Time when it ends unless it is refreshed, in milliseconds since 1970. */
  readonly expiresAt: number;
}

/** Where sessions are kept until they expire. */
export const sessionCollection: CollectionDefinition<Session> = defineCollection<Session>(
  "sessions",
  { indexes: ["user"], expires: { field: "expiresAt" } },
);
