import { hkdfSync } from "node:crypto";
import { defineCollection, seal, unseal, type CollectionDefinition } from "@fetchwork/documents";
import type { IdempotencyKey } from "./idempotency-key.ts";

/** How long an answer is kept, in milliseconds: 24 hours. */
export const keptFor = 86_400_000;

/** What is kept of a request under a key. */
export interface IdempotencyRecord {
  readonly fingerprint: string;
  /** Time until which it counts, in milliseconds since 1970. */
  readonly until: number;
  /** Sealed answer in Base64; `null` when it was not kept, absent while the request runs. */
  readonly answer?: string | null;
}

/** An old record stays an hour longer, since one that expires in the store is hidden before its identifier is free. */
const removedAfter = 3_600_000;

/** Records of requests. No resource has this name, since paths are in lower case. */
export const idempotencyRecords: CollectionDefinition<IdempotencyRecord> =
  defineCollection<IdempotencyRecord>("idempotencyRecords", {
    expires: { field: "until", after: removedAfter },
  });

/** An answer that can be given again. */
export interface KeptAnswer {
  readonly status: number;
  readonly headers: readonly (readonly [string, string])[];
  readonly body: Uint8Array<ArrayBuffer>;
}

/**
 * Encrypts an answer with a key that follows from the client's own. Who reads the store cannot read the answer, such as a
 * session token in it, without having the text that only the client knows.
 */
export function sealAnswer(answer: KeptAnswer, key: IdempotencyKey): string {
  const { status, headers, body } = answer;
  const head = Buffer.from(JSON.stringify([status, headers]));
  const size = Buffer.alloc(4);
  size.writeUInt32BE(head.length);
  return seal(secretOf(key), key.fingerprint, [size, head, body]);
}

/** Decrypts an answer; throws for one that was sealed with another key or changed since. */
export function openAnswer(sealed: string, key: IdempotencyKey): KeptAnswer {
  const plain = Buffer.from(unseal(secretOf(key), key.fingerprint, sealed));
  const headEnd = 4 + plain.readUInt32BE(0);
  const head: unknown = JSON.parse(plain.toString("utf8", 4, headEnd));
  // It is what `sealAnswer` wrote: the authentication tag has just been checked.
  const [status, headers] = head as [number, [string, string][]];
  return { status, headers, body: new Uint8Array(plain.subarray(headEnd)) };
}

function secretOf({ secret, id }: IdempotencyKey): Uint8Array {
  return new Uint8Array(hkdfSync("sha256", secret, id, "fetchwork idempotency answer", 32));
}
