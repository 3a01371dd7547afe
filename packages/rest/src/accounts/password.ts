import { randomBytes } from "node:crypto";
import { constantTimeEqual } from "@fetchwork/kit";
import { argon2id, type Argon2Input, type Turn } from "./argon2.ts";

/** Cost of a hash: the first recommendation of OWASP's cheat sheet, about 20 ms and 19 MiB. */
const cost = { memory: 19_456, passes: 2, parallelism: 1, tagLength: 32 } as const;

/** Highest cost accepted from a stored hash, so that a tampered one cannot exhaust the machine. */
const ceiling = { memory: 1_048_576, passes: 16, parallelism: 16 } as const;

const format =
  /^\$argon2id\$v=19\$m=(\d{1,7}),t=(\d{1,2}),p=(\d{1,2})\$([A-Za-z0-9+/]{11,86})\$([A-Za-z0-9+/]{22,86})$/;

/** Hashes a password with Argon2id (RFC 9106) and salt, as PHC string, in a thread. */
export async function hashPassword(password: string): Promise<string> {
  const salt = randomBytes(16);
  const tag = await argon2id({ ...cost, message: Buffer.from(password), nonce: salt }, "first");
  const { memory, passes, parallelism } = cost;
  return `$argon2id$v=19$m=${memory},t=${passes},p=${parallelism}$${unpadded(salt)}$${unpadded(tag)}`;
}

/**
 * Checks a password against a stored hash.
 *
 * Without a hash, as for an unknown user, it does the same work and returns `false`. So its time
 * does not tell which emails are registered.
 *
 * @param turn - `last` waits for those who are `first`, and is refused earlier. Default: `first`.
 */
export async function verifyPassword(
  password: string,
  hash: string | undefined,
  turn: Turn = "first",
): Promise<boolean> {
  const stored = parse(hash);
  const { expected, ...input } = stored ?? nobody;
  const tag = await argon2id({ ...input, message: Buffer.from(password) }, turn);
  return constantTimeEqual(tag, expected) && stored !== undefined;
}

interface StoredHash extends Omit<Argon2Input, "message"> {
  readonly expected: Buffer;
}

const nobody: StoredHash = { ...cost, nonce: randomBytes(16), expected: randomBytes(32) };

function parse(hash: string | undefined): StoredHash | undefined {
  const found = format.exec(hash ?? "");
  if (!found) return undefined;
  const [, memory, passes, parallelism, salt = "", tag = ""] = found;
  const numbers = {
    memory: Number(memory),
    passes: Number(passes),
    parallelism: Number(parallelism),
  };
  if (
    numbers.memory > ceiling.memory ||
    numbers.passes > ceiling.passes ||
    numbers.parallelism > ceiling.parallelism ||
    numbers.passes < 1 ||
    numbers.parallelism < 1 ||
    numbers.memory < 8 * numbers.parallelism
  ) {
    return undefined;
  }
  const expected = Buffer.from(tag, "base64");
  return { ...numbers, nonce: Buffer.from(salt, "base64"), tagLength: expected.length, expected };
}

/** Base64 without padding, as PHC strings have it. */
function unpadded(bytes: Uint8Array): string {
  return Buffer.from(bytes).toString("base64").replace(/=+$/, "");
}
