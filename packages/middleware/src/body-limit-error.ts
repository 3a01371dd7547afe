import { BodyTooLargeError } from "@fetchwork/kit";

/** Deeper than this nobody wraps errors, and a cycle ends. */
const maxDepth = 10;

/** Returns whether an error, or one of its causes, says that a body is over a limit, such as the server's own. */
export function isBodyLimitError(error: unknown): boolean {
  let inner = error;
  for (let depth = 0; depth < maxDepth && inner instanceof Error; depth += 1) {
    if (inner instanceof BodyTooLargeError) return true;
    inner = inner.cause;
  }
  return false;
}
