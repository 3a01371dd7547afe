/** Makes a hash without a prototype: no key of a server can reach one. */
export function emptyHash(): Record<string, unknown> {
  const hash: unknown = Object.create(null);
  // An object without any member is a record.
  return hash as Record<string, unknown>;
}
