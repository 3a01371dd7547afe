import { InputError, type UntypedWhere } from "@fetchwork/documents";
import { empty, text } from "@fetchwork/http";
import { forbidden } from "../access.ts";
import { bearerRequired } from "../authentication.ts";
import { RestError } from "../errors.ts";
import { contentTag, noneMatchHolds } from "../etag.ts";
import { fieldError } from "../field-error.ts";
import { createListReader } from "../list-query.ts";
import { badFields } from "../problem.ts";
import { populate } from "../relations/populate.ts";
import { readPopulate, withoutPopulate } from "../relations/populate-parameter.ts";
import type { Fields, Resource } from "../resource.ts";
import { nameOf } from "../standard-parameters.ts";
import { pageFinder, type Found } from "./find-page.ts";
import type { ResourceCall, ResourceHandler } from "./resource-call.ts";

/** Makes the handler that lists documents. */
export function listOperation(resource: Resource): ResourceHandler {
  const { collection, hooks, list: rules, output, present, shape } = resource;
  const read = createListReader(rules);
  const find = pageFinder(resource);
  // Another program, which shows other fields, gives other tags to the same versions.
  const program = contentTag(JSON.stringify([output, shape]));

  return async (call) => {
    const tree = readPopulate(resource, call.query);
    const query = read(withoutPopulate(resource, call.query));
    if (query.trash !== undefined) requireTrash(resource, call);
    const limits = await hooks.beforeList?.({ call });
    const where = both(query.where, limits ?? undefined);
    const documents = call.store.collection(collection);
    const found = await find(documents, { ...query, where }, call.query, call.store).catch(
      refuseQuery,
    );
    // What a hook or a relation shows may follow from more than the versions.
    const etag = tree || hooks.afterList ? undefined : versionsTag(found);
    if (etag !== undefined && holds(call, etag)) return notModified(found, etag);
    const shown = found.documents.map((document) => present(document, query.fields));
    const changed = await hooks.afterList?.({ call, documents: found.documents, rows: shown });
    const rows = changed ?? shown;
    // Else it would show with one document what belongs to another.
    if (tree && rows.length !== shown.length) throw misaligned(resource, rows.length);
    const whole = tree
      ? await populate(call, { resource, documents: found.documents, rows }, tree)
      : rows;
    return answer(call, { found, etag, rows: whole });
  };

  /** Made of versions and not of the answer: an answer that is not sent need not be written. */
  function versionsTag({ documents, count, link }: Found): string {
    let versions = `${program} ${count ?? ""} ${link}`;
    for (const { id, version } of documents) versions += ` ${id} ${version}`;
    return contentTag(versions);
  }

  function answer(
    call: ResourceCall,
    {
      found,
      etag,
      rows,
    }: {
      readonly found: Found;
      readonly etag: string | undefined;
      readonly rows: readonly Fields[];
    },
  ): Response {
    const { count } = found;
    const body = JSON.stringify(shape === "array" ? rows : { rows, count });
    const tag = etag ?? contentTag(`${count ?? ""} ${found.link} ${body}`);
    if (etag === undefined && holds(call, tag)) return notModified(found, tag);
    return text(body, {
      headers: { "content-type": "application/json", ...headersOf(found, tag) },
    });
  }

  /** All but the search and the cursor was checked before, and only the store knows what these may be. */
  function refuseQuery(error: unknown): never {
    if (!(error instanceof InputError)) throw error;
    const parameter = error.path === "after" ? "after" : "q";
    const name = nameOf(parameter, rules) ?? parameter;
    const message =
      parameter === "q" ? error.message : `${name} is no cursor of this list in this order`;
    throw badFields([fieldError(name, "invalid", message)]);
  }
}

function misaligned({ name }: Resource, count: number): RestError {
  const message = `the hook afterList of ${name} gave ${count} rows, expected one for each document`;
  return new RestError("ERR_REST_DEFINITION", message);
}

function holds({ request }: ResourceCall, etag: string): boolean {
  return noneMatchHolds(request.headers.get("if-none-match"), etag);
}

function notModified(found: Found, etag: string): Response {
  return empty(304, { headers: headersOf(found, etag) });
}

function headersOf({ count, isCapped, link }: Found, etag: string): Record<string, string> {
  return {
    link,
    ...(count === undefined ? {} : { "x-total-count": String(count) }),
    ...(isCapped ? { "x-total-count-capped": "true" } : {}),
    etag: `W/${etag}`,
  };
}

function both(
  one: UntypedWhere | undefined,
  other: UntypedWhere | undefined,
): UntypedWhere | undefined {
  if (!one || !other) return one ?? other;
  return { and: [one, other] };
}

/**
 * Refuses who may not see removed documents: they are for admins, and for the holder of the master key where the list
 * needs it.
 *
 * @throws Problem 401 for nobody, 403 for a user.
 */
export function requireTrash({ access }: Resource, { user }: ResourceCall): void {
  if (access.list === "master" || user?.role === "admin") return;
  throw user ? forbidden("only admins see what was removed") : bearerRequired(undefined);
}
