import { InputError } from "../api/errors.ts";
import { type ParsedPath, parsePath } from "../api/field-path.ts";
import {
  adding,
  type FieldChange,
  pulling,
  pushing,
  pushingUnique,
} from "../document/field-changes.ts";
import { parseJsonText, toJsonText } from "../document/json-text.ts";
import { isPlainObject } from "../is-plain-object.ts";

const maxFields = 100;

/**
 * Checks numbers that are to be added to fields.
 *
 * @internal
 * @throws {InputError} `ERR_DOCUMENTS_QUERY`
 */
export function parseIncrements(fields: unknown): readonly FieldChange[] {
  return entriesOf(fields).map(([path, summand]) => {
    if (typeof summand === "number" && Number.isFinite(summand)) return adding(path, summand);
    throw wrong(`what is added to "${path.text}" must be a finite number`, path);
  });
}

/**
 * Checks members that are to be added to lists.
 *
 * @internal
 * @throws {InputError} `ERR_DOCUMENTS_QUERY`, or `ERR_DOCUMENTS_VALUE` for a member that cannot be stored
 */
export function parsePush(
  fields: unknown,
  { unique = false }: { readonly unique?: unknown },
): readonly FieldChange[] {
  if (typeof unique !== "boolean") throw wrong('"unique" must be true or false');
  const change = unique ? pushingUnique : pushing;
  return entriesOf(fields).map(([path, members]) => change(path, membersOf(path, members)));
}

/**
 * Checks members that are to be removed from lists.
 *
 * @internal
 * @throws {InputError} `ERR_DOCUMENTS_QUERY`, or `ERR_DOCUMENTS_VALUE` for a member that cannot be stored
 */
export function parsePull(fields: unknown): readonly FieldChange[] {
  return entriesOf(fields).map(([path, members]) => pulling(path, membersOf(path, members)));
}

function entriesOf(fields: unknown): readonly (readonly [path: ParsedPath, value: unknown])[] {
  const entries = isPlainObject(fields) ? Object.entries(fields) : [];
  if (entries.length === 0 || entries.length > maxFields) {
    throw wrong(`expected an object with 1 to ${maxFields} fields to change`);
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

/** Copies the members, because the caller may change them before they are stored. */
function membersOf(path: ParsedPath, members: unknown): readonly unknown[] {
  if (!Array.isArray(members)) throw wrong(`the members of "${path.text}" must be a list`, path);
  const copy = parseJsonText(toJsonText({ [path.text]: members }))[path.text];
  return Array.isArray(copy) ? copy : [];
}

function wrong(message: string, path?: ParsedPath): InputError {
  return new InputError("ERR_DOCUMENTS_QUERY", message, path?.text);
}
