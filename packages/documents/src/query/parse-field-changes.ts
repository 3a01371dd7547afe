import { InputError, queryError } from "../api/errors.ts";
import { type ParsedPath, parsePath } from "../api/field-path.ts";
import { adding, type FieldChange } from "../document/field-changes.ts";
import { isPlainObject } from "../is-plain-object.ts";

const maxFields = 100;

/**
 * Checks numbers that are to be added to fields.
 *
 * @throws {InputError} `ERR_DOCUMENTS_QUERY`
 */
export function parseIncrements(fields: unknown): readonly FieldChange[] {
  return entriesOf(fields).map(([path, summand]) => {
    if (typeof summand === "number" && Number.isFinite(summand)) return adding(path, summand);
    throw queryError(`what is added to "${path.text}" must be a finite number`, path.text);
  });
}

function entriesOf(fields: unknown): readonly (readonly [path: ParsedPath, value: unknown])[] {
  const entries = isPlainObject(fields) ? Object.entries(fields) : [];
  if (entries.length === 0 || entries.length > maxFields) {
    throw queryError(`expected an object with 1 to ${maxFields} fields to change`);
  }
  return entries.map(([field, value]) => {
    const path = parsePath(field);
    if (path.meta === undefined) return [path, value];
    throw new InputError(
      "ERR_DOCUMENTS_NAME",
      `the field "${field}" is reserved by the store`,
      field,
    );
  });
}
