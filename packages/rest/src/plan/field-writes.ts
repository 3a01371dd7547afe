import type { Stored } from "@fetchwork/documents";
import { bearerRequired } from "../access.ts";
import { fieldError } from "../field-error.ts";
import type { Fields } from "../fields.ts";
import { Problem } from "../problem.ts";
import type { BodyFields, ResourceCall } from "../resource/call.ts";
import { fieldRuleLets } from "../resource/field-access.ts";
import type { Resource } from "../resource/resource.ts";

/**
 * Refuses a caller who sends fields that others set. To send back the value that a caller sees in
 * the document is not a change.
 *
 * @param current - The document that is changed. Default: it is created, and the caller will own
 * it.
 * @throws Problem 403 that names the fields, 401 for nobody.
 */
export function requireWritable(
  { owner, views, createRules, updateRules }: Resource,
  call: ResourceCall<unknown>,
  sent: BodyFields,
  current?: Stored<Fields>,
): void {
  const rules = current ? updateRules : createRules;
  if (rules.size === 0) return;
  const own =
    current ?? (owner === undefined || owner === "id" ? undefined : { [owner]: call.user?.id });
  const kind = views.kindOf(call, own);
  const refused = Object.keys(sent).filter((field) => {
    const rule = rules.get(field);
    if (rule === undefined || fieldRuleLets(rule, kind)) return false;
    if (current === undefined || views.hides(field, call, current)) return true;
    return JSON.stringify(sent[field] ?? null) !== JSON.stringify(current[field] ?? null);
  });
  if (refused.length === 0) return;
  if (!call.user) throw bearerRequired(undefined);
  const detail = `not allowed for this user: ${refused.join(", ")}`;
  const errors = refused.map((field) => fieldError(field, "access", `${field} is set by others`));
  throw new Problem(403, { detail, errors });
}
