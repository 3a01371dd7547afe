const encoder = new TextEncoder();

/**
 * Makes a comparison with a secret. It takes a time that depends on the length of what it is given, and not on how much
 * of it is right.
 */
export function constantTimeEqual(secret: string): (given: string) => boolean {
  const expected = encoder.encode(secret);
  const { length } = expected;
  return (given) => {
    const bytes = encoder.encode(given);
    let difference = bytes.length ^ length;
    for (let index = 0; index < bytes.length; index += 1) {
      difference |= (bytes[index] ?? 0) ^ (expected[length === 0 ? 0 : index % length] ?? 0);
    }
    return difference === 0;
  };
}
