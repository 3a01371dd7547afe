const encoder = new TextEncoder();

/**
 * Compares a text that somebody sent with a secret, in a time that depends on the length of what was sent, and not on
 * how much of it is right.
 */
export function constantTimeEqual(given: string, secret: string): boolean {
  const bytes = encoder.encode(given);
  const expected = encoder.encode(secret);
  const { length } = expected;
  let difference = bytes.length ^ length;
  for (let index = 0; index < bytes.length; index += 1) {
    difference |= (bytes[index] ?? 0) ^ (expected[length === 0 ? 0 : index % length] ?? 0);
  }
  return difference === 0;
}
