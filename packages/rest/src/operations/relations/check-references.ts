import type { Transaction } from "@fetchwork/documents";
import { fieldError, type FieldError } from "../../field-error.ts";
import type { Fields } from "../../fields.ts";
import { badFields } from "../../problem.ts";
import type { Reference, Resource } from "../../resource/resource.ts";

/**
 * Checks that what a document refers to is there, as the transaction sees it.
 *
 * @param before - The document as it was; what has not changed in it is not checked.
 * @throws Problem 400 that names every field whose document is missing.
 */
export async function checkReferences(
  { relations: { references } }: Resource,
  transaction: Transaction,
  fields: Fields,
  before: Fields = {},
): Promise<void> {
  const errors: FieldError[] = [];
  for (const reference of references) {
    const known = new Set(identifiersIn(before, reference));
    const asked = identifiersIn(fields, reference);
    const added = [...new Set(asked)].filter((id) => !known.has(id));
    if (added.length === 0) continue;
    const { name, collection } = reference.to();
    const found = await transaction.collection(collection).getMany(added);
    const missing = new Set(added.filter((_, index) => found[index] === undefined));
    for (const [index, id] of asked.entries()) {
      if (!missing.has(id)) continue;
      const param = reference.many ? `${reference.field}.${index}` : reference.field;
      errors.push(fieldError(param, "reference", `${param} refers to no ${name}`));
    }
  }
  if (errors.length > 0) throw badFields(errors.slice(0, maxErrors));
}

const maxErrors = 100;

/** Reads the identifiers that a document has in the field of a relation. */
export function identifiersIn(fields: Fields, { field, many }: Reference): readonly string[] {
  const value = Object.hasOwn(fields, field) ? fields[field] : undefined;
  const values: readonly unknown[] = many && Array.isArray(value) ? value : [value];
  return values.filter((one) => typeof one === "string");
}
