import { MiddlewareError } from "../errors.ts";
import { runInHashQueue } from "./hash-queue.ts";

const encoder = new TextEncoder();

/** bcrypt ignores all further bytes. */
const maxBytes = 72;

const cost = 10;

const pattern = /^\$2[aby]\$(?:0[4-9]|[12]\d|3[01])\$[./A-Za-z\d]{53}$/;

/**
 * Hashes a password with bcrypt, cost 10, for {@link basicAuthWithBcryptHash}. Takes some 50 ms of
 * the calling thread; prefer Argon2 for new passwords.
 *
 * @throws MiddlewareError `ERR_MIDDLEWARE_OPTION` for an empty password and one of more than 72
 * bytes, of which bcrypt would ignore the end; as a rejection
 */
export async function generateBcryptHash(password: string): Promise<string> {
  const bytes = typeof password === "string" ? encoder.encode(password) : new Uint8Array();
  if (bytes.length === 0 || bytes.length > maxBytes) {
    throw new MiddlewareError(
      "ERR_MIDDLEWARE_OPTION",
      `password must have 1 to ${maxBytes} bytes, got ${bytes.length}`,
    );
  }
  const { bcrypt } = await import("hash-wasm");
  const salt = crypto.getRandomValues(new Uint8Array(16));
  return runInHashQueue(() =>
    bcrypt({ password: bytes, salt, costFactor: cost, outputType: "encoded" }),
  );
}

/**
 * Makes a check of passwords against a hash of bcrypt (`$2a$`, `$2b$` or `$2y$`).
 *
 * @throws MiddlewareError `ERR_MIDDLEWARE_OPTION` for an invalid hash
 */
export function bcryptVerifier(hash: string): (password: string) => Promise<boolean> {
  if (typeof hash !== "string" || !pattern.test(hash)) {
    throw new MiddlewareError("ERR_MIDDLEWARE_OPTION", "hash must be a bcrypt hash");
  }
  return async (password) => {
    const bytes = encoder.encode(password);
    const isPossible = bytes.length > 0 && bytes.length <= maxBytes;
    const { bcryptVerify } = await import("hash-wasm");
    // An impossible password takes as long as a possible one.
    const tried = isPossible ? bytes : new Uint8Array(maxBytes).fill(32);
    const isEqual = await runInHashQueue(() => bcryptVerify({ password: tried, hash }));
    return isPossible && isEqual;
  };
}
