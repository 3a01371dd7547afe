const digits: readonly string[] = Array.from({ length: 256 }, (_, byte) =>
  byte.toString(16).padStart(2, "0"),
);

/**
 * Makes a source of random hexadecimal text of `length` bytes, two digits each. Asks the runtime for the bytes of many
 * texts at once, because a call costs more than the bytes.
 */
export function randomHex(length: number): () => string {
  const pool = new Uint8Array(length * 200);
  let used = pool.length;
  return () => {
    if (used === pool.length) {
      crypto.getRandomValues(pool);
      used = 0;
    }
    const end = used + length;
    let hex = "";
    for (; used < end; used += 1) hex += digits[pool[used] ?? 0];
    return hex;
  };
}
