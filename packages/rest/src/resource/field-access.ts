import { describeValue, isObject } from "@fetchwork/kit";
import { check } from "../errors.ts";
import { type Kind, viewLists, type ViewOptions } from "./views.ts";

/** Callers that may use a field: everyone, users, the owner, admins; each includes those after. */
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

/** Rules of who sets a field: the callers who do not change the document as such. */
export type WriteRules = ReadonlyMap<string, FieldRule>;

const letsPass: Readonly<Record<FieldRule, readonly Kind[]>> = {
  public: ["public", "user", "self", "admin", "admin-self"],
  user: ["user", "self", "admin", "admin-self"],
  owner: ["self", "admin", "admin-self"],
  admin: ["admin", "admin-self"],
};

/** Whether a rule lets a kind of caller pass. */
export function fieldRuleLets(rule: FieldRule, kind: Kind): boolean {
  return letsPass[rule].includes(kind);
}

/** Makes views of the rules for seeing fields: of each view, what the rules leave. */
export function viewsOf(
  fields: FieldAccess | undefined,
  views: ViewOptions | undefined,
  all: readonly string[],
): ViewOptions | undefined {
  const rules = readRules(fields, "read");
  if (rules.size === 0) return views;
  const lists = viewLists(views, all);
  const seenBy = (kind: Kind): readonly string[] =>
    lists[kind].filter((field) => fieldRuleLets(rules.get(field) ?? "public", kind));
  return {
    public: seenBy("public"),
    user: seenBy("user"),
    self: seenBy("self"),
    admin: seenBy("admin"),
  };
}

/** Reads the rules for setting fields; those that let everyone pass are left out. */
export function writeRulesOf(fields: FieldAccess | undefined): WriteRules {
  return readRules(fields, "write");
}

function readRules(fields: FieldAccess = {}, of: "read" | "write"): WriteRules {
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
      const known = Object.keys(letsPass);
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
