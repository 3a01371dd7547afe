import { nativeRequest, type Context } from "@fetchwork/http";
import { isReceivedRequest, passOn } from "@fetchwork/http/internal";
import { ByteCollector } from "@fetchwork/kit";
import { withStream } from "../body/read-body.ts";

/** A request whose body is seen while it is read. */
export interface CapturedBody {
  /** The request to pass to the handler. */
  readonly request: Request;
  /** The captured start of the body as UTF-8, and whether the handler has read more. */
  readonly read: () => { readonly text: string; readonly truncated: boolean };
}

/**
 * Captures up to `maxSize` bytes of a request's body while the handler reads it. Nothing is read
 * that the handler does not read, and nothing waits. Returns undefined for a request without a
 * body.
 */
export function captureBody(
  request: Request,
  context: Context,
  maxSize: number,
): CapturedBody | undefined {
  const { body } = request;
  if (body === null || request.bodyUsed) return undefined;
  const kept = new ByteCollector();
  let truncated = false;
  const note = (chunk: Uint8Array): void => {
    const room = maxSize - kept.size;
    if (chunk.byteLength > room) truncated = true;
    // A copy, because the reader may use the chunk's memory again.
    if (room > 0) kept.add(chunk.slice(0, room));
  };

  const derived = withStream(request, passOn(body, { onPiece: note }));
  return {
    // A platform's request that was not received is on its way to `fetch`, which accepts only its
    // own.
    request:
      "_request" in request || isReceivedRequest(request, context)
        ? derived
        : nativeRequest(derived),
    read: () => {
      // "stream" leaves half a character at the cut away.
      const text = new TextDecoder().decode(kept.join(), { stream: true });
      return { text, truncated };
    },
  };
}
