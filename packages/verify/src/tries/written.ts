import type { Resource } from "@fetchwork/rest";
import { marksIn } from "../world/canary.ts";
import { type Caller, kindOf } from "../world/caller.ts";
import type { Planted } from "../world/planted.ts";
import { ruleLets } from "../world/rules.ts";
import type { Answer } from "../world/sender.ts";
import type { Trial } from "./trial.ts";

/** What a request has written. */
export interface Written {
  readonly resource: Resource;
  readonly document?: object;
  readonly answer: Answer;
  readonly way: string;
}

/** Reports that a document was written. */
export function reportDocument({ findings }: Trial, caller: Caller, written: Written): void {
  const { answer, document, resource, way } = written;
  const { request, status } = answer;
  const kind = kindOf(caller, resource, document);
  findings.add({
    code: "document-written",
    resource: resource.name,
    caller: kind,
    way,
    request,
    status,
  });
}

/** Reports that a field was written. */
export function reportField(
  { findings }: Trial,
  caller: Caller,
  { answer, document, field, resource, way }: Written & { readonly field: string },
): void {
  const { request, status } = answer;
  const kind = way === "create" ? caller.name : kindOf(caller, resource, document);
  findings.add({
    code: "field-written",
    resource: resource.name,
    field,
    caller: kind,
    way,
    request,
    status,
  });
}

/** What a caller sees of a document that it has just written: what its view has, and what it has sent itself. */
export function scanOwn(
  trial: Trial,
  caller: Caller,
  { planted, answer }: { readonly planted: Planted; readonly answer: Answer },
): void {
  const { document, resource } = planted;
  const sent = new Set(marksIn(JSON.stringify(answer.request.body) ?? ""));
  const shown = new Set(marksIn(answer.text));
  const seen = new Set([...resource.views.fieldsOf(document, caller.viewer), resource.owner]);
  for (const [field, value] of Object.entries(document)) {
    const marks = marksIn(JSON.stringify(value) ?? "");
    if (seen.has(field) || !marks.some((mark) => shown.has(mark) && !sent.has(mark))) continue;
    const { request, status } = answer;
    const change = request.method === "POST" ? "create" : "update";
    const way = request.path.endsWith("/restore") ? "restore" : change;
    const found = { resource: resource.name, field, caller: kindOf(caller, resource, document) };
    trial.findings.add({ code: "field-read", ...found, way, request, status });
  }
}

/** A hook that refuses to show a document has to refuse its changes. */
export async function tryUnseen(
  { findings, sender }: Trial,
  caller: Caller,
  {
    planted,
    answer,
    way = "update",
  }: { readonly planted: Planted; readonly answer: Answer; readonly way?: string },
): Promise<void> {
  const { document, resource } = planted;
  if (resource.hooks.beforeShow === undefined) return;
  if (ruleLets(caller, "show", planted) !== true) return;
  const path = `${resource.path}/${document.id}`;
  const { status } = await sender.send(caller, { method: "GET", path });
  if (status === 200) return;
  const found = { resource: resource.name, caller: kindOf(caller, resource, document) };
  const { request } = answer;
  findings.add({ code: "hook-gap", ...found, way, request, status: answer.status });
}
