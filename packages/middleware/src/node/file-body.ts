import type { FileHandle } from "node:fs/promises";
import type { ByteRange } from "./byte-range.ts";

/** A piece of a body: bytes that are there, or a part of the file. */
export type BodyPart = Uint8Array<ArrayBuffer> | ByteRange;

const chunkSize = 65_536;

/**
 * Streams parts of an open file, one chunk of 64 KiB after the other, and only on demand. Closes
 * the file at the end, when it is cancelled and when it fails; a file that has become shorter
 * fails.
 */
export function fileBody(
  handle: FileHandle,
  parts: readonly BodyPart[],
): ReadableStream<Uint8Array<ArrayBuffer>> {
  const pending = [...parts];
  let offset = 0;
  const next = async (): Promise<Uint8Array<ArrayBuffer> | undefined> => {
    const [part] = pending;
    if (part === undefined) return undefined;
    if (part instanceof Uint8Array) {
      pending.shift();
      return part;
    }
    const left = part.end - part.start + 1 - offset;
    const buffer = new Uint8Array(Math.min(chunkSize, left));
    const { bytesRead } = await handle.read(buffer, 0, buffer.length, part.start + offset);
    if (bytesRead === 0) throw new Error("the file became shorter while it was sent");
    offset += bytesRead;
    if (bytesRead === left) {
      pending.shift();
      offset = 0;
    }
    return buffer.subarray(0, bytesRead);
  };
  return new ReadableStream<Uint8Array<ArrayBuffer>>(
    {
      async pull(controller) {
        try {
          const chunk = await next();
          if (chunk === undefined) {
            await handle.close();
            controller.close();
          } else {
            controller.enqueue(chunk);
          }
        } catch (error) {
          await handle.close();
          throw error;
        }
      },
      cancel: () => handle.close(),
    },
    { highWaterMark: 0 },
  );
}
