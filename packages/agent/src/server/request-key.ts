import { createHash } from "node:crypto";
import { HttpFailure, invalid } from "./http-failure.ts";

/** Request with an `Idempotency-Key`, as it is stored with what it began. */
export interface RequestKey {
  readonly key: string;
  /** SHA-256 of its content, in hex. */
  readonly hash: string;
}

const code = "idempotency_key";

/**
 * Reads the `Idempotency-Key` of a request; undefined: it has none.
 *
 * @throws HttpFailure 400 unless it has 1 to 255 visible characters, with or without quotes
 */
export function readRequestKey({ headers }: Request, content: object): RequestKey | undefined {
  const value = headers.get("idempotency-key");
  if (value === null) return undefined;
  const [, quoted, key = quoted] = /^(?:"([!#-~]{1,255})"|([!#-~]{1,255}))$/.exec(value) ?? [];
  if (key === undefined) throw new HttpFailure(400, code, "the Idempotency-Key is malformed");
  const hash = createHash("sha256").update(JSON.stringify(content)).digest("hex");
  return { key, hash };
}

/** @throws HttpFailure 422 for a key that came with another content before */
export function checkSameRequest(known: RequestKey | undefined, { hash }: RequestKey): void {
  if (known?.hash !== hash) throw invalid("this Idempotency-Key belongs to another request");
}

/** A request with the key has begun, and has no result yet. */
export function keyInUse(): HttpFailure {
  const options = { headers: { "retry-after": "1" }, retryable: true };
  return new HttpFailure(409, code, "a request with this Idempotency-Key is running", options);
}
