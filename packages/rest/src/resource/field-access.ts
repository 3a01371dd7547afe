import { describeValue, isObject } from "@fetchwork/kit";
import { check } from "../errors.ts";

/**
 * Kinds of callers: everyone, users with a valid session token, the owner of the document, admins
 * and holders of the master key. Each includes those after it.
 */
export type CallerKind = "admin" | "owner" | "public" | "user";

/** Callers that may use a field; `nobody` leaves it to the program. */
export type FieldRule = CallerKind | "nobody";

/** Callers that see a field, and those that set it. */
export interface FieldRules {
  /**
   * Callers that see it. A field that nobody sees is not shown, found, filtered or sorted by, nor
   * repeated in an error. It is stored as it is: hash it in a hook where it need not be read.
   * Default: `"public"`.
   */
  readonly read?: FieldRule | undefined;
  /**
   * Callers that set it, of those that pass `create` or `update`. What clients send for a field
   * that nobody sets is passed over. Such a field is optional in the schema, or has a default.
   * Default: `"public"`.
   */
  readonly write?: FieldRule | undefined;
  /**
   * Callers that change it once the document is there. Where that is nobody, another value in an
   * update is a 400, for admins too; the program may change it. Default: as `write` says.
   */
  readonly update?: FieldRule | undefined;
}

/** Rules of fields by name; a rule alone is for seeing and setting the field. */
export type FieldAccess<Field extends string = string> = {
  readonly [Name in Field]?: FieldRule | FieldRules | undefined;
};

/** Names of the fields that nobody sees. */
export type UnseenIn<Rules> = {
  [Name in keyof Rules]: Rules[Name] extends "nobody" | { readonly read: "nobody" } ? Name : never;
}[keyof Rules];

/**
 * Names of the fields that not everyone may see: some do, or the type does not tell the rule.
 */
export type RestrictedIn<Rules> = {
  [Name in keyof Rules]: ReadRule<Rules[Name]> extends "public"
    ? never
    : Exclude<Name, UnseenIn<Rules>>;
}[keyof Rules];

type ReadRule<Given> = Given extends { readonly read?: infer Rule }
  ? Exclude<Rule, undefined>
  : Given extends FieldRule
    ? Given
    : "public";

/** Rules of fields that some callers see or set; a field without one is for everyone. */
export type RuleByField = ReadonlyMap<string, CallerKind>;

/** Rules of the fields of a resource by what callers do. */
export interface CompiledFieldRules {
  /** Fields that some callers see. */
  readonly readRules: RuleByField;
  /** Fields that some callers set when they create a document. */
  readonly createRules: RuleByField;
  /** Fields that some callers set when they change a document. */
  readonly updateRules: RuleByField;
  /** Fields that nobody sees. */
  readonly secret: ReadonlySet<string>;
  /** Fields that nobody sets. */
  readonly readOnly: ReadonlySet<string>;
  /** Fields that nobody changes, and somebody sets when a document is created. */
  readonly immutable: ReadonlySet<string>;
}

const ranks: Readonly<Record<CallerKind, number>> = { public: 0, user: 1, owner: 2, admin: 3 };

/** Whether a rule lets a kind of caller pass. */
export function fieldRuleLets(rule: CallerKind, kind: CallerKind): boolean {
  return ranks[kind] >= ranks[rule];
}

/** Reads the rules of fields by what callers do. */
export function compileFieldRules(fields: FieldAccess = {}): CompiledFieldRules {
  const rules = Object.entries(fields).map(([field, given = "public"]) => {
    if (typeof given === "string") return { field, read: given, write: given, update: given };
    const { read = "public", write = "public", update = write } = given;
    return { field, read, write, update };
  });
  const readOnly = nobody("write");
  return {
    readRules: some("read"),
    createRules: some("write"),
    updateRules: some("update"),
    secret: nobody("read"),
    readOnly,
    immutable: new Set([...nobody("update")].filter((field) => !readOnly.has(field))),
  };

  function some(action: keyof FieldRules): RuleByField {
    return new Map(
      rules.flatMap(({ field, [action]: rule }) =>
        rule === "nobody" || rule === "public" ? [] : [[field, rule]],
      ),
    );
  }

  function nobody(action: keyof FieldRules): ReadonlySet<string> {
    return new Set(rules.filter((one) => one[action] === "nobody").map(({ field }) => field));
  }
}

/** Parts of a resource that the rules of its fields have to fit. */
interface FieldPlace {
  readonly name: string;
  readonly owner: string | undefined;
  /** Names of the fields of the schema. */
  readonly fields: readonly string[];
  /** Names of all that can be shown: the same, computed fields, times, and the owner. */
  readonly showable: readonly string[];
}

/**
 * Checks the rules of fields.
 *
 * @throws RestError `ERR_REST_DEFINITION`
 */
export function checkFieldAccess(
  rules: FieldAccess | undefined,
  { name, owner, fields, showable }: FieldPlace,
): void {
  for (const [field, given] of Object.entries<unknown>(rules ?? {})) {
    if (given === undefined) continue;
    const { read, write, update, ...others } = isObject(given)
      ? given
      : { read: given, write: given };
    const [unknown] = Object.keys(others);
    check(
      unknown === undefined,
      `fields.${field} of ${name} has no ${unknown ?? ""}, expected { read, write, update }`,
    );
    for (const rule of [read, write, update]) {
      const known = [...Object.keys(ranks), "nobody"];
      const isRule = rule === undefined || known.some((one) => one === rule);
      const expected = `one of ${known.join(", ")}, or { read, write, update }`;
      check(isRule, `fields.${field} of ${name} must be ${expected}, got ${describeValue(rule)}`);
      check(
        rule !== "owner" || owner !== undefined,
        `${name} has the rule owner, but no owner field`,
      );
    }
    const isSet = isObject(given) && (write !== undefined || update !== undefined);
    const known = isSet ? fields : showable;
    check(known.includes(field), `${name} has no field ${field} to see or set by a rule`);
    check(
      write !== "nobody" || update === undefined || update === "nobody",
      `${field} of ${name} is set by nobody, so that nobody changes it`,
    );
  }
}
