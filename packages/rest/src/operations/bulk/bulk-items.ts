import { isObject } from "@fetchwork/kit";
import { fieldError, type FieldError } from "../../field-error.ts";
import { badFields } from "../../problem.ts";
import type { BodyFields } from "../../resource/call.ts";
import type { Resource } from "../../resource/resource.ts";

/** Change of one document by a bulk request. */
export type BulkItem =
  | { readonly op: "create"; readonly body: BodyFields }
  | {
      readonly op: "patch" | "update";
      readonly id: string;
      readonly version: number | undefined;
      readonly body: BodyFields;
    }
  | { readonly op: "remove"; readonly id: string; readonly version: number | undefined };

const operations = ["create", "patch", "remove", "update"];

/**
 * Reads the items of a bulk request.
 *
 * @throws Problem 400 that names everything that is wrong, with the position of its item.
 */
export function readBulkItems({ bulkLimit }: Resource, body: BodyFields): readonly BulkItem[] {
  const { operations: given } = body;
  if (given === undefined)
    throw badFields([fieldError("operations", "required", "operations is required")]);
  if (!Array.isArray(given)) {
    throw badFields([fieldError("operations", "type", "operations must be of type array")]);
  }
  if (given.length === 0 || given.length > bulkLimit) {
    const message = `operations must have length from 1 to ${bulkLimit}`;
    throw badFields([
      fieldError("operations", given.length === 0 ? "minlength" : "maxlength", message),
    ]);
  }
  const items: BulkItem[] = [];
  const errors: FieldError[] = [];
  for (const [index, one] of given.entries()) {
    const read = readItem(one);
    if ("op" in read) items.push(read);
    else errors.push({ ...read, index });
  }
  if (errors.length > 0) throw badFields(errors);
  return items;
}

function readItem(item: unknown): BulkItem | FieldError {
  if (!isObject(item)) return fieldError("operations", "type", "an operation must be an object");
  const { op, id, version, body, ...others } = item;
  const [unknown] = Object.keys(others);
  if (unknown !== undefined) {
    return fieldError(unknown.slice(0, 64), "unknown", "an operation has op, id, version and body");
  }
  if (typeof op !== "string" || !operations.includes(op)) {
    return fieldError("op", "enum", `op must be one of: ${operations.join(", ")}`);
  }
  const isCreate = op === "create";
  if (isCreate && (id !== undefined || version !== undefined)) {
    return fieldError(
      id === undefined ? "version" : "id",
      "unknown",
      "create has neither id nor version",
    );
  }
  if (op !== "remove" && !isObject(body)) {
    return body === undefined
      ? fieldError("body", "required", "body is required")
      : fieldError("body", "type", "body must be of type object");
  }
  if (op === "remove" && body !== undefined)
    return fieldError("body", "unknown", "remove has no body");
  if (isCreate) return { op, body: body as BodyFields }; // Checked above.
  if (typeof id !== "string" || id === "") return fieldError("id", "required", "id is required");
  const isVersion = typeof version === "number" && Number.isSafeInteger(version) && version >= 1;
  if (version !== undefined && !isVersion) {
    return fieldError("version", "type", "version must be a whole number from 1");
  }
  const at = { id, version: isVersion ? version : undefined };
  return op === "remove"
    ? { op, ...at }
    : { op: op === "patch" ? "patch" : "update", ...at, body: body as BodyFields };
}
