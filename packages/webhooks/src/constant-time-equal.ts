/**
 * Compares two texts in a time that depends on their lengths only. The lengths of digests are no secret.
 */
export function constantTimeEqual(left: string, right: string): boolean {
  const { length } = left;
  if (length !== right.length) return false;
  let difference = 0;
  for (let index = 0; index < length; index += 1) {
    difference |= left.charCodeAt(index) ^ right.charCodeAt(index);
  }
  return difference === 0;
}
