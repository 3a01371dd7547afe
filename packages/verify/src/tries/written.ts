import { marksIn } from "../world/canary.ts";
import type { Caller } from "../world/caller.ts";
import type { Planted } from "../world/planted.ts";
import { ruleLets } from "../world/rules.ts";
import type { Answer } from "../world/sender.ts";
import { report, type Trial } from "./trial.ts";

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
    const change = answer.request.method === "POST" ? "create" : "update";
    const way = answer.request.path.endsWith("/restore") ? "restore" : change;
    report(trial, "field-read", caller, { resource, document, field, way, answer });
  }
}

/** A hook that refuses to show a document has to refuse its changes. */
export async function tryUnseen(
  trial: Trial,
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
  const { status } = await trial.sender.send(caller, { method: "GET", path });
  if (status === 200) return;
  report(trial, "hook-gap", caller, { resource, document, way, answer });
}
