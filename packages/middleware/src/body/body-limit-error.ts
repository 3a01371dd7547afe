/** Deeper than this nobody wraps errors, and a cycle ends. */
const maxDepth = 10;

/** Whether an error, or what caused it, says that a body is over the server's own limit; srvx names it so. */
export function isBodyLimitError(error: unknown): boolean {
  let inner = error;
  for (let depth = 0; depth < maxDepth && inner instanceof Error; depth += 1) {
    if (inner.name === "BodyTooLargeError") return true;
    inner = inner.cause;
  }
  return false;
}
