import type { Store } from "@fetchwork/documents";
import type { DocumentOf, Resource } from "@fetchwork/rest";

/** A statement about the documents of a resource; see {@link invariant}. */
export interface Invariant {
  readonly name: string;
  readonly resource: Resource;
  readonly value: (document: never, store: Store) => unknown;
}

/**
 * States what stays the same for each document of a resource, whatever refers to it. A condition is
 * a value that is `true`; one that is `false` for a new document is a finding.
 *
 * @param name - Names it in findings, such as `stock + sold`.
 * @param value - Returns what stays the same, as JSON; `store` reads other documents.
 *
 * @example
 * ```ts
 * invariant("comments are counted", article, async ({ id, comments }, store) =>
 *   comments === (await store.collection(comment.collection).count({ where: { article: id } })),
 * );
 * ```
 */
export function invariant<R extends Resource>(
  name: string,
  resource: R,
  value: (document: DocumentOf<R>, store: Store) => unknown,
): Invariant {
  return { name, resource, value };
}
