import { hkdfSync } from "node:crypto";
import { defineCollection, seal, unseal, type CollectionDefinition } from "@fetchwork/documents";
import type { IdempotencyKey } from "./idempotency-key.ts";

/** How long a response is kept, in milliseconds: 24 hours. */
export const keptFor = 86_400_000;

/** Record of a request under a key. */
export interface IdempotencyRecord {
  readonly fingerprint: string;
  /** Time until which it counts, in milliseconds since 1970. */
  readonly until: number;
  /** Sealed response in Base64; `null` when it was not kept, absent while the request runs. */
  readonly response?: string | null;
}

/** Old records stay an hour longer: expired ones are hidden before their id is free. */
const removedAfter = 3_600_000;

/** Records of requests. No resource has this name, since paths are in lower case. */
export const idempotencyRecords: CollectionDefinition<IdempotencyRecord> =
  defineCollection<IdempotencyRecord>("idempotencyRecords", {
    expires: { field: "until", after: removedAfter },
  });

/** A response that can be given again. */
export interface KeptResponse {
  readonly status: number;
  readonly headers: readonly (readonly [string, string])[];
  readonly body: Uint8Array<ArrayBuffer>;
}

/**
 * Encrypts a response with a key that follows from the client's own. A reader of the store cannot
 * read the response, such as a session token in it. Only the client knows the text that this needs.
 */
export function sealResponse(response: KeptResponse, key: IdempotencyKey): string {
  const { status, headers, body } = response;
  const head = Buffer.from(JSON.stringify([status, headers]));
  const size = Buffer.alloc(4);
  size.writeUInt32BE(head.length);
  return seal(secretOf(key), key.fingerprint, [size, head, body]);
}

/** Decrypts a response; throws for one that was sealed with another key or changed since. */
export function openResponse(sealed: string, key: IdempotencyKey): KeptResponse {
  const plain = Buffer.from(unseal(secretOf(key), key.fingerprint, sealed));
  const headEnd = 4 + plain.readUInt32BE(0);
  const head: unknown = JSON.parse(plain.toString("utf8", 4, headEnd));
  // It is what `sealResponse` wrote: the authentication tag has just been checked.
  const [status, headers] = head as [number, [string, string][]];
  return { status, headers, body: new Uint8Array(plain.subarray(headEnd)) };
}

function secretOf({ secret, id }: IdempotencyKey): Uint8Array {
  return new Uint8Array(hkdfSync("sha256", secret, id, "fetchwork idempotency response", 32));
}
