import type { ResourceHandler } from "../resource/call.ts";
import type { Resource } from "../resource/resource.ts";
import type { OutputOf, Schema } from "../schema.ts";
import { createOperation } from "./create.ts";
import { listOperation } from "./list.ts";
import { removeOperation } from "./remove.ts";
import { restoreOperation } from "./restore.ts";
import { showOperation } from "./show.ts";
import { patchOperation, updateOperation } from "./update.ts";

/**
 * Handlers of the operations of a resource. Replace one by spreading: `{ ...controller, create }`.
 * The access rule, that of the owner too, has been applied before a handler is called.
 */
export interface ResourceController<S extends Schema = Schema> {
  readonly list: ResourceHandler;
  readonly show: ResourceHandler;
  readonly create: ResourceHandler<OutputOf<S>>;
  /** Changes the given fields and keeps the others. */
  readonly update: ResourceHandler;
  /** Applies a JSON Merge Patch (RFC 7396). */
  readonly patch: ResourceHandler;
  readonly remove: ResourceHandler;
  /** Brings a removed document back. Needed where the resource keeps them, with `softDelete`. */
  readonly restore?: ResourceHandler | undefined;
}

/** The handlers that change one document. */
export type ChangeHandlers<S extends Schema = Schema> = Pick<
  ResourceController<S>,
  "create" | "patch" | "remove" | "update"
>;

/** Makes the handlers of a resource. */
export function createResourceController<S extends Schema>(
  resource: Resource<S>,
): Required<ResourceController<S>> {
  return {
    list: listOperation(resource),
    show: showOperation(resource),
    create: createOperation(resource),
    update: updateOperation(resource),
    patch: patchOperation(resource),
    remove: removeOperation(resource),
    restore: restoreOperation(resource),
  };
}
