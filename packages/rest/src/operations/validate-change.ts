import type { Stored } from "@fetchwork/documents";
import { isObject } from "@fetchwork/kit";
import { fieldError, type FieldError, fieldErrorsOf } from "../field-error.ts";
import type { Fields } from "../fields.ts";
import { type ChangedDocument, requireWritable, textOf } from "../plan/field-writes.ts";
import { badFields, Problem } from "../problem.ts";
import type { BodyFields, ResourceCall } from "../resource/call.ts";
import { without } from "../resource/guarded-schema.ts";
import type { Resource } from "../resource/resource.ts";
import type { Schema } from "../schema.ts";
import { view } from "../view.ts";

/**
 * Validates all the fields of a document after a change, and returns what the schema makes of them.
 *
 * A model may have changed since a document was stored. Invalid fields of the stored document that
 * the request does not send are not a mistake of the client: they are refused with 409 and
 * reported, for the operator to migrate the documents. A request that sends valid values for these
 * fields passes.
 *
 * @throws Problem 400 when the request sends invalid fields or other values for immutable ones, 409
 * when only the stored document has invalid fields, 403 for fields that the caller may not set. All
 * of them name the fields.
 */
export async function validateChange(
  resource: Resource,
  call: ResourceCall,
  { current, whole }: ChangedDocument,
): Promise<Fields> {
  const { fields, name, readOnly, stored, views } = resource;
  const { body, report } = call;
  requireWritable(resource, call, body, { current, whole });
  const result = await check(stored, whole);
  if (!result.errors) {
    refuseImmutable(resource, call, { current, fields: result.value });
    return result.value;
  }
  const before = await check(stored, view(current, fields));
  const outdated = new Set(before.errors?.map(({ param }) => param));
  const sent = without(body, readOnly);
  const own = result.errors.filter(({ param }) => !outdated.has(param) || isIn(sent, param));
  if (own.length > 0) throw badFields(own);
  // The names inside of a field that the caller does not see may be values.
  const errors = result.errors.map((error) => {
    const [field = ""] = error.param.split(".");
    const isHidden = views.hides(field, call, current);
    return isHidden ? fieldError(field, error.name, `${field} is not valid`) : error;
  });
  const faults = errors.map(({ message, param }) => message || `${param} is not valid`);
  const problem = new Problem(409, {
    detail: `the stored ${name} ${current.id} no longer fits its model: ${faults.join(", ")}`,
    errors,
  });
  report(problem);
  throw problem;
}

/**
 * Refuses other values for fields that are set once. Whether a value is the same is told only to
 * callers who see it.
 *
 * @throws Problem 400 that names the fields.
 */
function refuseImmutable(
  { immutable, name, views }: Resource,
  call: ResourceCall,
  { current, fields }: { readonly current: Stored<Fields>; readonly fields: Fields },
): void {
  const errors = Object.keys(call.body)
    .filter((field) => immutable.has(field))
    .filter(
      (field) =>
        views.hides(field, call, current) || textOf(fields[field]) !== textOf(current[field]),
    )
    .map((field) => {
      const message = `${field} is set when the ${name} is created, and not changed`;
      return fieldError(field, "immutable", message);
    });
  if (errors.length > 0) throw badFields(errors);
}

type Checked =
  | { readonly value: Fields; readonly errors?: undefined }
  | { readonly errors: readonly FieldError[] };

async function check(schema: Schema<Fields>, value: unknown): Promise<Checked> {
  const result = await schema["~standard"].validate(value);
  return result.issues ? { errors: fieldErrorsOf(result.issues, value) } : { value: result.value };
}

/** Whether the fields of a body have a value under a name with dots between its levels. */
function isIn(fields: BodyFields, param: string): boolean {
  if (param === "") return false;
  let value: unknown = fields;
  for (const key of param.split(".")) {
    if (Array.isArray(value)) return true;
    if (!isObject(value) || !Object.hasOwn(value, key)) return false;
    value = value[key];
  }
  return true;
}
