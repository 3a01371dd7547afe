const encoder = new TextEncoder();

/**
 * Compares what a client sent with a secret: texts, which are compared in UTF-8, or bytes. The time
 * depends on the length of what was sent, but not on how much of it is correct.
 */
export function constantTimeEqual(sent: string | Uint8Array, secret: string | Uint8Array): boolean {
  const bytes = toBytes(sent);
  const expected = toBytes(secret);
  const { length } = expected;
  let difference = bytes.length ^ length;
  for (let index = 0; index < bytes.length; index += 1) {
    difference |= (bytes[index] ?? 0) ^ (expected[length === 0 ? 0 : index % length] ?? 0);
  }
  return difference === 0;
}

function toBytes(value: string | Uint8Array): Uint8Array {
  return typeof value === "string" ? encoder.encode(value) : value;
}
