import type { FindingCode, Findings } from "../finding.ts";
import { type Caller, kindOf } from "./caller.ts";
import type { Subject } from "./rules.ts";
import type { Answer } from "./sender.ts";

/** What was found about a resource, or one of its documents, and by which response. */
export interface Found extends Subject {
  readonly field?: string | undefined;
  readonly way: string;
  readonly answer: Pick<Answer, "request" | "status">;
  /** Default: what helps against faults of the code. */
  readonly fix?: string;
}

/** Reports a fault; its caller is named as what it is for the document. */
export function report(
  { findings }: { readonly findings: Findings },
  code: FindingCode,
  caller: Caller,
  { answer: { request, status }, document, field, fix, resource, way }: Found,
): void {
  const about = { resource: resource.name, field, caller: kindOf(caller, resource, document) };
  findings.add({ code, ...about, way, request, status }, fix);
}
