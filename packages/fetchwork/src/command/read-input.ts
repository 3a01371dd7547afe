import { BodyTooLargeError, ByteCollector } from "@fetchwork/kit";
import type { CommandIo } from "./command-io.ts";

/**
 * Reads standard input.
 *
 * @param limit - Maximum size in bytes.
 * @throws BodyTooLargeError
 */
export async function readInput(
  { stdin }: CommandIo,
  limit: number,
): Promise<Uint8Array<ArrayBuffer>> {
  const bytes = new ByteCollector();
  for await (const chunk of stdin) {
    if (bytes.size + chunk.byteLength > limit) throw new BodyTooLargeError(limit);
    bytes.add(chunk);
  }
  return bytes.join();
}
