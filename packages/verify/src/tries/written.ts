import { marksIn } from "../world/canary.ts";
import type { Caller } from "../world/caller.ts";
import { type Planted, requestFor } from "../world/planted.ts";
import { ruleLets } from "../world/rules.ts";
import type { Answer } from "../world/sender.ts";
import type { Trial } from "./trial.ts";
import { report } from "../world/report.ts";

/** A document as it was written, by which response. */
export interface Written extends Planted {
  readonly way: string;
  readonly answer: Answer;
}

/** What a caller sees of a document that it has just written: what its view has, and what it has sent itself. */
export function scanOwn(trial: Trial, caller: Caller, written: Written): void {
  const { answer, document, resource } = written;
  const sent = new Set(marksIn(JSON.stringify(answer.request.body) ?? ""));
  const shown = new Set(marksIn(answer.text));
  const seen = new Set([...resource.views.fieldsOf(document, caller.viewer), resource.owner]);
  for (const [field, value] of Object.entries(document)) {
    const marks = marksIn(JSON.stringify(value) ?? "");
    if (seen.has(field) || !marks.some((mark) => shown.has(mark) && !sent.has(mark))) continue;
    report(trial, "field-read", caller, { ...written, field });
  }
}

/** A hook that refuses to show a document has to refuse its changes. */
export async function tryUnseen(trial: Trial, caller: Caller, written: Written): Promise<void> {
  if (written.resource.hooks.beforeShow === undefined) return;
  if (ruleLets(caller, "show", written) !== true) return;
  const { status } = await trial.sender.send(caller, requestFor("GET", written));
  if (status !== 200) report(trial, "hook-gap", caller, written);
}
