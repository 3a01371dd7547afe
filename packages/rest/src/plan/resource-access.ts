import type { Stored } from "@fetchwork/documents";
import { bearerRequired, forbidden } from "../access.ts";
import type { Fields } from "../fields.ts";
import { notFound } from "../problem.ts";
import type { Operation } from "../resource/access-rules.ts";
import {
  type BodyFields,
  idOf,
  type ResourceCall,
  type ResourceHandler,
} from "../resource/call.ts";
import { without } from "../resource/guarded-schema.ts";
import type { Resource } from "../resource/resource.ts";
import { requireWritable } from "./field-writes.ts";

/** A call and its document: none for lists, creations and addresses without a document. */
export interface AccessQuestion {
  readonly call: ResourceCall<unknown>;
  readonly document: Stored<Fields> | undefined;
}

/**
 * Tells whether the caller may do something with a document, as the rule of the resource says. The
 * master key is not a user, so that under the rule `master` the result is `false`; its routes check
 * the key.
 */
export function allows(
  resource: Resource,
  operation: Operation,
  { call, document }: AccessQuestion,
): Promise<boolean> | boolean {
  const { access, owner } = resource;
  const rule = access[operation];
  if (typeof rule === "function") {
    const fields = operation === "create" ? newFields(resource, call) : undefined;
    return rule({ ...call, caller: call.user, document, fields });
  }
  switch (rule) {
    case "public":
      return true;
    case "user":
      return call.user !== undefined;
    case "admin":
      return call.user?.role === "admin";
    case "owner":
      if (call.user === undefined) return false;
      // A list is limited to the documents of the caller.
      if (operation === "list" || call.user.role === "admin") return true;
      return owner !== undefined && document?.[owner] === call.user.id;
    default:
      return false; // The rule `master`.
  }
}

/** Fields that a creation stores before hooks: those that clients set, and the owner. */
export function newFields(
  { owner, reserved }: Resource,
  { body, user }: ResourceCall<unknown>,
): Fields {
  // The schema, which has validated it, is one of an object.
  const fields: Fields = { ...without(body as Fields, reserved) };
  if (owner !== undefined && owner !== "id" && user) fields[owner] = user.id;
  return fields;
}

/** Whether the result of {@link allows} depends on more than the route has checked. */
export function asksAgain({ access }: Resource, operation: Operation): boolean {
  const rule = access[operation];
  return (rule === "owner" && operation !== "list") || typeof rule === "function";
}

/**
 * Applies the rules that a route alone cannot, before any handler.
 *
 * The handler gets the document that was checked. An operation that changes it repeats the check
 * when the document has changed since.
 */
export function guarded<Body>(
  resource: Resource,
  operation: Operation,
  handle: ResourceHandler<Body>,
): ResourceHandler<Body> {
  const isLimited = operation === "create" && resource.createRules.size > 0;
  if (!asksAgain(resource, operation) && !isLimited) return handle;
  const isOfOne = operation !== "list" && operation !== "create";
  return async (call) => {
    const document = isOfOne ? await find(resource, operation, call) : undefined;
    if (asksAgain(resource, operation)) {
      await requireAccess(resource, operation, { call, document });
    }
    // Changes are checked with the document that they change.
    if (isLimited) requireWritable(resource, call, call.sent ?? (call.body as BodyFields));
    return handle({ ...call, document });
  };
}

/**
 * Refuses a caller whom the rule of a resource does not let pass.
 *
 * @throws Problem 401 for nobody, 403 for a user, 404 where the owner of no document is asked for.
 */
export async function requireAccess(
  resource: Resource,
  operation: Operation,
  question: AccessQuestion,
): Promise<void> {
  const { call, document } = question;
  const isOwned = resource.access[operation] === "owner";
  if (isOwned && call.user && !document) throw notFound(resource.name);
  if (await allows(resource, operation, question)) return;
  if (!call.user) throw bearerRequired(undefined);
  throw isOwned ? forbidden("this belongs to another user") : forbidden();
}

async function find(
  { collection }: Resource,
  operation: Operation,
  call: ResourceCall<never> | ResourceCall<unknown>,
): Promise<Stored<Fields> | undefined> {
  const documents = call.store.collection(collection);
  if (operation !== "restore") return documents.get(idOf(call));
  const [removed] = await documents.find({ where: { id: idOf(call) }, deleted: "only", limit: 1 });
  return removed;
}
