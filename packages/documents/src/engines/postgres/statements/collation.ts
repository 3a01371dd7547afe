import { type CollatedField, keyOf } from "../../collation.ts";
import { type KeyForm, numberKey, textKey } from "./keys.ts";

/** Returns the key of a field that has a collation, in the form of all keys. */
export function collationColumn(
  field: CollatedField,
  stored: unknown,
  form: KeyForm,
): string | null {
  const key = keyOf(field, stored);
  if (key === null) return null;
  return typeof key === "number" ? numberKey(key, form) : textKey(key);
}
