import { fieldError, type FieldError } from "../field-error.ts";
import type { NamedFields } from "../resource/list-rules.ts";

/** Names in one parameter, far more than there are fields. */
const maxNames = 200;

/** Maximum fields to sort by; the store takes as many. */
const maxSortKeys = 15;

/** Takes the values of a parameter apart at commas; a parameter may be given more than once. */
export function namesIn(values: readonly string[]): readonly string[] {
  const names = values.flatMap((value) => value.split(",")).map((name) => name.trim());
  return names.filter((name) => name !== "");
}

/** Reads fields to sort by; the first mention of a field counts. */
export function readSort(
  asked: readonly string[],
  rules: NamedFields,
  errors: FieldError[],
): readonly string[] {
  if (asked.length === 0) return rules.defaultSort;
  const keys = new Map<string, string>();
  for (const key of asked.slice(0, maxNames)) {
    const field = signed(key);
    if (!rules.sortable.includes(field.name)) {
      const message = `sort must be one of: ${rules.sortable.join(", ")}`;
      errors.push(fieldError("sort", "enum", message));
      return [...keys.values()];
    }
    if (!keys.has(field.name)) keys.set(field.name, field.minus ? `-${field.name}` : field.name);
  }
  if (asked.length > maxNames || keys.size > maxSortKeys) {
    const message = `sort must have length lower than or equal to ${maxSortKeys}`;
    errors.push(fieldError("sort", "maxlength", message));
  }
  return [...keys.values()];
}

/** Reads fields to include, or those to exclude; `id` stays unless it is excluded by name. */
export function readFields(
  asked: readonly string[],
  { selectable }: NamedFields,
  errors: FieldError[],
): readonly string[] | undefined {
  if (asked.length === 0) return undefined;
  if (asked.length > maxNames) {
    const message = `fields must have length lower than or equal to ${maxNames}`;
    errors.push(fieldError("fields", "maxlength", message));
    return undefined;
  }
  const included = new Set<string>();
  const excluded = new Set<string>();
  for (const key of asked) {
    const field = signed(key);
    if (!selectable.includes(field.name)) {
      const message = `fields must be one of: ${selectable.join(", ")}`;
      errors.push(fieldError("fields", "enum", message));
      return undefined;
    }
    (field.minus ? excluded : included).add(field.name);
  }
  const excludesOthers = [...excluded].some((field) => field !== "id");
  if (included.size > 0 && excludesOthers) {
    errors.push(fieldError("fields", "mixed", "fields must either include or exclude, not both"));
    return undefined;
  }
  if (included.size > 0) included.add("id");
  const base = included.size > 0 ? selectable.filter((field) => included.has(field)) : selectable;
  return base.filter((field) => !excluded.has(field));
}

/** Takes the sign off a field; an unencoded `+` has become a space and was trimmed. */
export function signed(key: string): { readonly name: string; readonly minus: boolean } {
  const minus = key.startsWith("-");
  return { name: minus || key.startsWith("+") ? key.slice(1) : key, minus };
}
