import type { Resource } from "@fetchwork/rest";
import { type Caller, kindOf } from "./caller.ts";

/** Kind of a fault; the reference of the package explains each kind. */
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
  /** Header `If-Match`. */
  readonly ifMatch?: string;
}

/** One fault, with the request that shows it. */
export interface Finding {
  readonly code: FindingCode;
  /** Name of the resource. Absent where the finding is about no document. */
  readonly resource?: string | undefined;
  readonly field?: string | undefined;
  /** The kind of caller: `anonymous`, `user` (no owner), `owner`, `admin`, `master` or `key`. */
  readonly caller: string;
  /** How, such as `show`, `list`, `filter` or `update`, or the operation of an own route. */
  readonly way: string;
  readonly request: ShownRequest;
  readonly status: number;
  /** Repair, in words. */
  readonly fix: string;
}

/** Repairs of each kind of fault, for a report of all of them. */
export const fixes = {
  "field-read":
    "Show documents with resource.present(document, call) in handlers, hooks and computed fields, or allow the field by its rule",
  "field-inferred":
    "Refuse the parameter for callers who do not see the field, or take the field out of filter, sort and search",
  "field-written":
    "Set the field from call.user or in the program, never from the body, or allow it by the rule of the field",
  "document-written":
    "Give the route a rule, and call requireOwner in its handler before it writes",
  "hook-gap":
    "Refuse the same documents in beforeShow or the rule of show, in beforeList, beforeUpdate, beforeRemove and beforeRestore",
  "secret-name": "Say in fields who sees it, such as nobody",
  "invariant-broken":
    "Change everything that belongs together in the transaction of the hook, or in one of store.transaction; count with increment",
  "repeated-effect":
    "Declare the route as atomic and respond after all changes, and make PUT and DELETE set values",
  "cost-grows": "Declare an index by indexes of the resource",
  "server-error": "Refuse the input with a Problem of status 400, or handle the error",
  "undeclared-status": "Add the status to responses of the route",
} as const;

/** Fault of a resource, or of one of its documents, and the response that shows it. */
export interface Found extends Pick<Finding, "field" | "way"> {
  readonly resource: Resource;
  readonly document?: object | undefined;
  readonly response: Pick<Finding, "request" | "status">;
  /** Default: what helps against faults of the code. */
  readonly fix?: string;
}

/** Collects findings: of those that differ in the request only, the first one. */
export class Findings {
  readonly #found = new Map<string, Finding>();

  /** @param fix - Default: what helps against faults of the code. */
  add(finding: Omit<Finding, "fix">, fix: string = fixes[finding.code]): void {
    const key = keyOf(finding);
    if (!this.#found.has(key)) this.#found.set(key, { ...finding, fix });
  }

  /** Adds a finding; its caller is named as what it is for the document. */
  report(code: FindingCode, caller: Caller, found: Found): void {
    const { response, document, field, fix, resource, way } = found;
    const { request, status } = response;
    const about = { resource: resource.name, field, caller: kindOf(caller, resource, document) };
    this.add({ code, ...about, way, request, status }, fix);
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
