import { InputError, UniqueError } from "@fetchwork/documents";
import { fieldError } from "../field-error.ts";
import { badFields, notFound, Problem } from "../problem.ts";

/**
 * Responds to a write of what a client sent.
 *
 * @throws Problem 409 where a unique value is taken, 400 for text that no store keeps, such as
 * U+0000.
 */
export async function refuseConflicts<R>(write: Promise<R>): Promise<R> {
  try {
    return await write;
  } catch (error) {
    if (error instanceof UniqueError) throw taken(error.fields);
    throw inputProblem(error) ?? error;
  }
}

/**
 * Makes the problem of a value or an identifier that no store takes; `undefined` for any other
 * error. Validation comes before, so only a few such values come so far, for example deeply nested
 * ones.
 */
export function inputProblem(error: unknown): Problem | undefined {
  if (!(error instanceof InputError)) return undefined;
  const { code, path } = error;
  if (code === "ERR_DOCUMENTS_ID") return notFound();
  if (code !== "ERR_DOCUMENTS_VALUE") return undefined;
  return badFields([
    fieldError(path, "invalid", `${path || "a field"} has a value that is not kept`),
  ]);
}

function taken(fields: readonly string[]): Problem {
  const [field = "", ...others] = fields;
  const combination = `the combination of ${fields.join(", ")}`;
  // The fields of an index that another process built are unknown.
  const what = others.length > 0 ? combination : field || "a unique value";
  const message = `${what} is already registered`;
  return new Problem(409, { errors: [fieldError(field, "unique", message)] });
}
