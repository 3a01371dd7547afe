import { VersionError, type Stored } from "@fetchwork/documents";
import { preconditionFailed, requireMatch } from "./etag.ts";
import { Problem } from "./problem.ts";

/** Tries of a change that loses against others before it gives up. */
const maxTries = 20;

/** What {@link writeConditionally} works on. */
export interface ConditionalWrite<T, R> {
  /** Reads the document as it is now. */
  readonly read: () => Promise<Stored<T> | undefined>;
  /** Decides about the change and makes it, on condition that the version is still the one that was read. */
  readonly write: (current: Stored<T>) => Promise<R | undefined>;
}

/**
 * Changes a document on the ground of its current state, without losing what others change meanwhile: it is read
 * and changed again until nobody came between. With `If-Match` it is tried once.
 *
 * @throws Problem 404 when there is no such document, 412 when `If-Match` does not hold.
 */
export async function writeConditionally<T, R>(
  ifMatch: string | null,
  { read, write }: ConditionalWrite<T, R>,
): Promise<R> {
  for (let tries = 0; tries < maxTries; tries += 1) {
    const current = await read();
    if (!current) throw notFound();
    requireMatch(ifMatch, current.version);
    try {
      const result = await write(current);
      if (result === undefined) throw notFound();
      return result;
    } catch (error) {
      if (!(error instanceof VersionError)) throw error;
      if (ifMatch !== null) throw preconditionFailed(current.version + 1);
    }
  }
  throw new Problem(503, {
    detail: "the document is being changed by others all the time",
    headers: { "retry-after": "1" },
  });
}

/** Says that there is no such document. */
export function notFound(): Problem {
  return new Problem(404, { detail: "there is no such document" });
}
