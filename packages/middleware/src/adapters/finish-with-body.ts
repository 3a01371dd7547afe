import { finishContext, type Context } from "@fetchwork/http";
import { passOn } from "@fetchwork/http/internal";
import { replaceBody, takeResponse, type ReplacedBody } from "../body/replace-body.ts";

/**
 * Finishes our own context at the end of the body, which no framework reports. The response becomes
 * a new one: the old one belongs to that context, and a server has another context.
 */
export function finishWithBody(response: Response, context: Context, isWatched: boolean): Response {
  const { status } = response;
  if (status === 101) {
    finishContext(context, { status, bytes: 0 });
    return response;
  }
  const taken = takeResponse(response);
  if (!isWatched || !(taken.body instanceof ReadableStream)) {
    finishContext(context, { status, bytes: sizeOf(taken.body) });
    return replaceBody(taken, taken.body, taken.headers);
  }
  let bytes = 0;
  const counted = passOn(taken.body, {
    onPiece: ({ byteLength }) => {
      bytes += byteLength;
    },
    onEnd: (how) => finishContext(context, { status, bytes, ...how }),
  });
  return replaceBody(taken, counted, taken.headers);
}

function sizeOf(body: ReplacedBody): number {
  if (typeof body === "string") return new TextEncoder().encode(body).length;
  return body instanceof Uint8Array ? body.length : 0;
}
