/** Bytes that are read of a body that is not needed whole. */
const maxStart = 65_536;

/** Reads at most the first 64 KiB of a body and discards the rest; a body that fails ends there. */
export async function startOfBody(body: ReadableStream<Uint8Array>): Promise<Uint8Array> {
  const reader = body.getReader();
  const start = new Uint8Array(maxStart);
  let length = 0;
  try {
    while (length < maxStart) {
      const { done, value } = await reader.read();
      if (done) break;
      const piece = value.subarray(0, maxStart - length);
      start.set(piece, length);
      length += piece.byteLength;
    }
    await reader.cancel();
  } catch {
    // The status that came before is what matters.
  }
  return start.slice(0, length);
}
