import type { Stored } from "@fetchwork/documents";
import { isObject } from "@fetchwork/kit";
import { bearerRequired } from "../access.ts";
import { fieldError } from "../field-error.ts";
import type { Fields } from "../fields.ts";
import { Problem } from "../problem.ts";
import type { BodyFields, ResourceCall } from "../resource/call.ts";
import { fieldRuleLets } from "../resource/field-access.ts";
import type { Resource } from "../resource/resource.ts";

/** A document that a request changes. */
export interface ChangedDocument {
  /** The document as it is stored. */
  readonly current: Stored<Fields>;
  /** All its fields after the change. */
  readonly whole: unknown;
}

/**
 * Refuses a caller who sends fields that others set. To send back the value that a caller sees in
 * the document is not a change.
 *
 * @param change - The document that is changed. Default: it is created, and the caller will own it.
 * @throws Problem 403 that names the fields, 401 for nobody.
 */
export function requireWritable(
  { owner, views, createRules, updateRules }: Resource,
  call: ResourceCall<unknown>,
  sent: BodyFields,
  change?: ChangedDocument,
): void {
  const { current, whole } = change ?? {};
  const rules = current ? updateRules : createRules;
  if (rules.size === 0) return;
  const own =
    current ?? (owner === undefined || owner === "id" ? undefined : { [owner]: call.user?.id });
  const kind = views.kindOf(call, own);
  const refused = Object.keys(sent).filter((field) => {
    const rule = rules.get(field);
    if (rule === undefined || fieldRuleLets(rule, kind)) return false;
    if (current === undefined || views.hides(field, call, current)) return true;
    return !isObject(whole) || textOf(whole[field]) !== textOf(current[field]);
  });
  if (refused.length === 0) return;
  if (!call.user) throw bearerRequired(undefined);
  const detail = `not allowed for this user: ${refused.join(", ")}`;
  const errors = refused.map((field) => fieldError(field, "access", `${field} is set by others`));
  throw new Problem(403, { detail, errors });
}

/** The same text for the same value, in whatever order it has its fields. */
export function textOf(value: unknown): string {
  return JSON.stringify(value ?? null, (_, one: unknown) =>
    isObject(one)
      ? Object.fromEntries(Object.entries(one).toSorted(([a], [b]) => (a < b ? -1 : 1)))
      : one,
  );
}
