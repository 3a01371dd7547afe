import { describeValue, isObject } from "@fetchwork/kit";
import { check } from "../errors.ts";

/**
 * Callers that may use a field, and kinds of callers: everyone, users with a valid session token,
 * the owner of the document, admins and holders of the master key. Each includes those after it.
 */
export type FieldRule = "admin" | "owner" | "public" | "user";

/** Callers that see a field, and those that set it. */
export interface FieldRules {
  /** Default: `"public"`. */
  readonly read?: FieldRule | undefined;
  /** Rule for callers that pass `create` or `update`. Default: `"public"`. */
  readonly write?: FieldRule | undefined;
}

/** Rules of fields by name; a rule alone is for seeing and setting the field. */
export type FieldAccess<Field extends string = string> = {
  readonly [Name in Field]?: FieldRule | FieldRules | undefined;
};

/** Names of the fields that not everyone sees. */
export type RestrictedIn<Rules> = {
  [Name in keyof Rules]: Rules[Name] extends "public" | { readonly read?: "public" | undefined }
    ? never
    : Rules[Name] extends { readonly read: FieldRule } | FieldRule
      ? Name
      : never;
}[keyof Rules];

/** Rules of fields for seeing or for setting them; a field without one is for everyone. */
export type RuleByField = ReadonlyMap<string, FieldRule>;

const ranks: Readonly<Record<FieldRule, number>> = { public: 0, user: 1, owner: 2, admin: 3 };

/** Whether a rule lets a kind of caller pass. */
export function fieldRuleLets(rule: FieldRule, kind: FieldRule): boolean {
  return ranks[kind] >= ranks[rule];
}

/** Reads the rules for seeing or for setting; those that let everyone pass are left out. */
export function rulesFor(of: "read" | "write", fields: FieldAccess = {}): RuleByField {
  return new Map(
    Object.entries(fields).flatMap(([field, given]) => {
      const rule = typeof given === "object" ? given[of] : given;
      return rule === undefined || rule === "public" ? [] : [[field, rule] as const];
    }),
  );
}

/** Parts of a resource that the rules of its fields have to fit. */
interface FieldPlace {
  readonly name: string;
  readonly owner: string | undefined;
  /** Names of the fields that are shown. */
  readonly view: readonly string[];
  /** Names of the fields that clients set. */
  readonly writable: readonly string[];
}

/**
 * Checks the rules of fields.
 *
 * @throws RestError `ERR_REST_DEFINITION`
 */
export function checkFieldAccess(
  fields: FieldAccess | undefined,
  { name, owner, view, writable }: FieldPlace,
): void {
  for (const [field, given] of Object.entries<unknown>(fields ?? {})) {
    if (given === undefined) continue;
    const rules = isObject(given) ? given : { read: given, write: given };
    const { read, write, ...others } = rules;
    const [unknown] = Object.keys(others);
    check(
      unknown === undefined,
      `fields.${field} of ${name} has no ${unknown ?? ""}, expected { read, write }`,
    );
    for (const rule of [read, write]) {
      const known = Object.keys(ranks);
      const isRule = rule === undefined || known.some((one) => one === rule);
      const expected = `one of ${known.join(", ")}, or { read, write }`;
      check(isRule, `fields.${field} of ${name} must be ${expected}, got ${describeValue(rule)}`);
      check(
        rule !== "owner" || owner !== undefined,
        `${name} has the rule owner, but no owner field`,
      );
    }
    const isKnown = isObject(given)
      ? (read === undefined || view.includes(field)) &&
        (write === undefined || writable.includes(field))
      : view.includes(field) || writable.includes(field);
    check(isKnown, `${name} has no field ${field} to see or set by a rule`);
  }
}
