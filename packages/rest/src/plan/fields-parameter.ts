import type { FieldError } from "../field-error.ts";
import { badFields } from "../problem.ts";
import type { ResourceCall } from "../resource/call.ts";
import { nameOf } from "../resource/list-rules.ts";
import type { Resource } from "../resource/resource.ts";
import { listParameters } from "./list-reference.ts";
import type { QueryParameter } from "./route.ts";
import { namesIn, readFields } from "./sort-and-fields.ts";

/**
 * Reads `fields` where one document is shown, as lists read it; `undefined` when there is none.
 *
 * @throws Problem 400 for a field that the caller does not see.
 */
export function readShownFields(
  resource: Resource,
  call: Pick<ResourceCall<unknown>, "query" | "user" | "isMaster">,
): readonly string[] | undefined {
  const name = nameOf("fields", resource.list);
  if (name === undefined || !call.query.has(name)) return undefined;
  const errors: FieldError[] = [];
  const rules = resource.views.rulesFor(call);
  const fields = readFields(namesIn(call.query.getAll(name)), { name, rules }, errors);
  if (errors.length > 0) throw badFields(errors);
  return fields;
}

/** Describes `fields`, where the lists of a resource have it. */
export function fieldsReference(resource: Resource): readonly QueryParameter[] {
  const fields = nameOf("fields", resource.list);
  return listParameters(resource).filter(({ name }) => name === fields);
}
