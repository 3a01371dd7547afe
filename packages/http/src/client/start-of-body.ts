const longest = 65_536;

/** Reads the first 64 KiB of a body at most, and lets go of the rest; a body that breaks off ends there. */
export async function startOfBody(body: ReadableStream<Uint8Array>): Promise<Uint8Array> {
  const reader = body.getReader();
  const start = new Uint8Array(longest);
  let length = 0;
  try {
    while (length < longest) {
      const { done, value } = await reader.read();
      if (done) break;
      const piece = value.subarray(0, longest - length);
      start.set(piece, length);
      length += piece.byteLength;
    }
    await reader.cancel();
  } catch {
    // What matters is the status that came before.
  }
  return start.slice(0, length);
}
