/**
 * What kind of fault was found:
 *
 * - `field-read`: a response has a field that the definitions hide from the caller.
 * - `field-told`: a filter, search, order or parameter responds differently by the value of such a field.
 * - `field-written`: a request set a field that the caller does not set.
 * - `document-written`: a request created, changed or removed a document although no rule lets the caller do it.
 * - `hook-gap`: a hook refuses the document in one operation, and another operation shows or changes it.
 * - `secret-name`: everyone or every user reads a field whose name is that of a secret.
 * - `invariant-broken`: a statement of `invariants` does not hold after requests at once, a repetition or an end of the process.
 * - `repeated-effect`: a repetition under the same `Idempotency-Key`, or of a PUT or DELETE, has another effect.
 * - `cost-grows`: a list costs more with each document of the collection, which an index can prevent.
 * - `server-error`: a response has a status of 500 or more.
 * - `undeclared-status`: a response has a status that the route does not declare.
 */
export type FindingCode = keyof typeof fixes;

/** The request that shows a finding. */
export interface ShownRequest {
  readonly method: string;
  /** With the query. */
  readonly path: string;
  /** JSON body. Absent, the request has none. */
  readonly body?: unknown;
  /** Header `Idempotency-Key`. */
  readonly idempotencyKey?: string;
}

/** One fault, with the request that shows it. */
export interface Finding {
  readonly code: FindingCode;
  /** Name of the resource. Absent where the finding is about no document. */
  readonly resource?: string | undefined;
  readonly field?: string | undefined;
  /** The kind of caller: `anonymous`, `user` (of a document of somebody else), `owner`, `admin`, `master` or `key`. */
  readonly caller: string;
  /** How: `show`, `list`, `populate`, `filter`, `search`, `sort`, `update`, or the operation of a route of your own. */
  readonly way: string;
  readonly request: ShownRequest;
  readonly status: number;
  /** What to do about it. */
  readonly fix: string;
}

/** What helps against each kind of fault, for a report of all of them. */
export const fixes = {
  "field-read":
    "Show documents with resource.present(document, call) in handlers, hooks and computed fields, or allow the field in views",
  "field-told":
    "Refuse the parameter for callers who do not see the field, or take the field out of filter, sort and search",
  "field-written":
    "Set the field from call.user or in the program, never from the body, or allow it by the rule of the field",
  "document-written":
    "Give the route a rule, and call requireOwner in its handler before it writes",
  "hook-gap":
    "Refuse the same documents in beforeShow, beforeList, beforeUpdate, beforeRemove and beforeRestore",
  "secret-name": "Declare the field as secret or hidden, or give it a rule in fields",
  "invariant-broken":
    "Change everything that belongs together in the transaction of the hook, or in one of store.transaction; count with increment",
  "repeated-effect":
    "Declare the route as atomic and respond after all changes, and make PUT and DELETE set values",
  "cost-grows": "Declare an index by indexes of the resource",
  "server-error": "Refuse the input with a Problem of status 400, or handle the error",
  "undeclared-status": "Add the status to responses of the route",
} as const;

/** Collects findings: of those that differ in the request only, the first one. */
export class Findings {
  readonly #found = new Map<string, Finding>();

  /** @param fix - Default: what helps against faults of the code. */
  add(finding: Omit<Finding, "fix">, fix: string = fixes[finding.code]): void {
    const { caller, code, field, resource, way } = finding;
    const key = keyOf({ caller, code, field, resource, way });
    if (!this.#found.has(key)) this.#found.set(key, { ...finding, fix });
  }

  list(): readonly Finding[] {
    return [...this.#found.values()];
  }
}

/** Names a finding, in a baseline too: `field-read article.email user list`. */
export function keyOf(
  finding: Pick<Finding, "caller" | "code" | "field" | "resource" | "way">,
): string {
  const { caller, code, field, resource, way } = finding;
  const subject = [resource, field].filter((part) => part !== undefined).join(".");
  return [code, subject || "-", caller, way].join(" ");
}
