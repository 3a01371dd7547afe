import { isObject, isSecretName } from "@fetchwork/kit";
import type { Findings, Found } from "../finding.ts";
import { marksIn } from "../world/canary.ts";
import { type Caller, kindOf } from "../caller.ts";
import type { World } from "../world/open-world.ts";
import type { Place } from "../world/planted.ts";
import type { Visibility } from "../world/rules.ts";
import type { Outcome, Sender } from "../world/sender.ts";

/** Fields that each kind of caller reads: names by kind, by resource. */
export type Reads = Readonly<Record<string, Readonly<Record<string, readonly string[]>>>>;

/** The table of what trials noted, in alphabetical order. */
export function readTable(noted: Trial["reads"]): Reads {
  const table: Record<string, Record<string, string[]>> = {};
  for (const key of [...noted].toSorted()) {
    const [resource = "", kind = "", field = ""] = key.split(" ");
    ((table[resource] ??= {})[kind] ??= []).push(field);
  }
  return table;
}

/** Parts that all tries work with. */
export interface Trial {
  readonly world: World;
  readonly sender: Sender;
  readonly findings: Findings;
  readonly visibility: Visibility;
  /** Fields that were read, in the form `resource kind field`. */
  readonly reads: Set<string>;
}

/** Reports fields of planted documents in a response that the caller may not see. */
export function scan(trial: Trial, caller: Caller, response: Outcome, way: string): void {
  const { garden } = trial.world;
  const { body, path } = response.request;
  // The caller knows what it has sent.
  const sent = new Set([...marksIn(decodeURIComponent(path)), ...marksIn(body)]);
  for (const mark of marksIn(response.text)) {
    const place = garden.byMark(mark);
    if (place === undefined || sent.has(mark)) continue;
    note(trial, caller, { ...place, response, way });
  }
  for (const shown of documentsIn(response.json)) {
    const planted = garden.byId(Reflect.get(shown, "id"));
    if (planted === undefined) continue;
    for (const [field, value] of Object.entries(shown)) {
      if (field === "id" || !isSame(Reflect.get(planted.document, field), value)) continue;
      note(trial, caller, { ...planted, field, response, way });
    }
  }
}

/** Objects in a response that have an identifier. */
export function documentsIn(value: unknown): readonly object[] {
  if (Array.isArray(value)) return value.flatMap(documentsIn);
  if (!isObject(value)) return [];
  const inside = Object.values(value).flatMap(documentsIn);
  return typeof value["id"] === "string" ? [value, ...inside] : inside;
}

function note(trial: Trial, caller: Caller, place: Place & Found): void {
  const { document, field, resource } = place;
  const kind = kindOf(caller, resource, document);
  if (!trial.visibility.fieldsFor(caller, place).has(field)) {
    trial.findings.report("field-read", caller, place);
    return;
  }
  trial.reads.add(`${resource.name} ${kind} ${field}`);
  if ((kind === "anonymous" || kind === "user") && isSecretName(field)) {
    trial.findings.report("secret-name", caller, { ...place, way: "views" });
  }
}

function isSame(stored: unknown, shown: unknown): boolean {
  if (stored === undefined || stored === null) return false;
  const isOwner = isObject(shown) && shown["id"] === stored;
  return isOwner || JSON.stringify(stored) === JSON.stringify(shown);
}
