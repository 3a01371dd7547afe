const encoder = new TextEncoder();

/**
 * Compares a text that a client sent with a secret. The time depends on the length of that text, but not on how much of
 * it is correct.
 */
export function constantTimeEqual(sent: string, secret: string): boolean {
  const bytes = encoder.encode(sent);
  const expected = encoder.encode(secret);
  const { length } = expected;
  let difference = bytes.length ^ length;
  for (let index = 0; index < bytes.length; index += 1) {
    difference |= (bytes[index] ?? 0) ^ (expected[length === 0 ? 0 : index % length] ?? 0);
  }
  return difference === 0;
}
