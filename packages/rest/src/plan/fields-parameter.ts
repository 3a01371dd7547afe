import type { FieldError } from "../field-error.ts";
import { badFields } from "../problem.ts";
import type { ResourceCall } from "../resource/call.ts";
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
  if (!call.query.has("fields")) return undefined;
  const errors: FieldError[] = [];
  const rules = resource.views.rulesFor(call);
  const fields = readFields(namesIn(call.query.getAll("fields")), rules, errors);
  if (errors.length > 0) throw badFields(errors);
  return fields;
}

/** Describes `fields`, where the lists of a resource have it. */
export function fieldsReference(resource: Resource): readonly QueryParameter[] {
  return listParameters(resource).filter(({ name }) => name === "fields");
}
