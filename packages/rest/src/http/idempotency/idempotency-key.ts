import { createHash, createHmac } from "node:crypto";
import { isObject } from "@fetchwork/kit";
import { fieldError } from "../../field-error.ts";
import type { Route } from "../../plan/route.ts";
import { badFields, Problem } from "../../problem.ts";
import type { Call } from "../../resource/call.ts";

/** Header of the key (draft-ietf-httpapi-idempotency-key-header-07, section 2.1). */
const idempotencyHeader = "idempotency-key";

/** A key as it came with a request. */
export interface IdempotencyKey {
  /** Text that the client chose. It is stored nowhere, since it opens the response that is kept. */
  readonly secret: string;
  /** Identifier of the record: of this caller and this text, and of no other. */
  readonly id: string;
  /** Tells requests of one key apart. It is keyed, so that it reveals no password of a body. */
  readonly fingerprint: string;
}

/**
 * Reads the key of a request; `undefined` when it has none.
 *
 * @throws Problem 400 for a key that is not 1 to 255 visible characters, in quotes or not
 */
export function readIdempotencyKey(
  { method, path, access }: Route,
  call: Call,
  sent: unknown,
): IdempotencyKey | undefined {
  const header = call.request.headers.get(idempotencyHeader);
  if (header === null) return undefined;
  const secret = parseKey(header);
  if (secret === undefined) {
    const message = "Idempotency-Key must have 1 to 255 visible characters";
    throw badFields([fieldError("Idempotency-Key", "match", message)]);
  }
  const { query, params, user } = call;
  // A key, or a role of later, may not open what was shown to the same user before.
  const caller = isObject(user) ? [user["role"], user["apiKey"]] : [];
  const parameters = [...query].filter(([name]) => name !== "access_token");
  const request = textOf([method, path, params, parameters, sent, ...caller]);
  return {
    secret,
    id: createHash("sha256")
      .update(`${callerOf(access, call)}\0${secret}`)
      .digest("hex"),
    fingerprint: createHmac("sha256", secret).update(request).digest("hex"),
  };
}

/** The key of a header: a string of structured fields (RFC 9651, 3.3.3), or a bare value. */
function parseKey(value: string): string | undefined {
  const quoted = /^"((?:[^"\\]|\\["\\])*)"$/.exec(value)?.[1]?.replaceAll(/\\(.)/g, "$1");
  const key = quoted ?? (value.includes('"') ? "" : value);
  return /^[!-~]{1,255}$/.test(key) ? key : undefined;
}

function callerOf(access: Route["access"], { isMaster, user }: Call): string {
  if (isObject(user)) return `user ${String(user["id"])}`;
  // Routes with an access function are public, and the function may ask for the master key.
  return access === "public" && !isMaster ? "nobody" : "master";
}

function textOf(request: unknown): string {
  try {
    return JSON.stringify(request);
  } catch (cause) {
    // Deeper than the stack; what is read from JSON has no cycles.
    throw new Problem(400, { detail: "the body has too many levels", cause });
  }
}
