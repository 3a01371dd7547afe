import { InputError, UniqueError } from "@fetchwork/documents";
import { fieldError } from "./field-error.ts";
import { badFields, Problem } from "./problem.ts";

/**
 * Answers for a write of what a client sent.
 *
 * @throws Problem 409 where a unique value is taken, 400 for text that no store keeps, such as U+0000.
 */
export async function refuseConflicts<R>(write: Promise<R>): Promise<R> {
  try {
    return await write;
  } catch (error) {
    if (error instanceof UniqueError) throw taken(error.fields);
    if (error instanceof InputError && error.code === "ERR_DOCUMENTS_VALUE") {
      throw badFields([
        fieldError(error.path, "invalid", `${error.path} has a value that is not kept`),
      ]);
    }
    throw error;
  }
}

function taken(fields: readonly string[]): Problem {
  const [field = "", ...others] = fields;
  const combination = `the combination of ${fields.join(", ")}`;
  // Which fields is not known of an index that another process built.
  const what = others.length > 0 ? combination : field || "a unique value";
  const message = `${what} already registered`;
  return new Problem(409, { errors: [fieldError(field, "unique", message)] });
}
