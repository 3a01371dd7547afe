import { empty, json } from "@fetchwork/http";
import { bearerRequired, forbidden } from "../access.ts";
import { RestError } from "../errors.ts";
import { contentTag, noneMatchHolds } from "../etag.ts";
import { byCaller } from "../plan/by-caller.ts";
import { listLimits } from "../plan/list-limits.ts";
import { createListReader } from "../plan/list-query.ts";
import { readPopulate, withoutPopulate } from "../plan/populate-parameter.ts";
import type { ResourceCall, ResourceHandler } from "../resource/call.ts";
import type { Resource } from "../resource/resource.ts";
import { createPageFinder, type Found } from "./find-page.ts";
import { type Owners, readOwners } from "./owners.ts";
import { pageResponse, pageHeaders } from "./page-response.ts";
import { populate } from "./relations/populate.ts";

/** Makes the handler that lists documents. */
export function listOperation(resource: Resource): ResourceHandler {
  const { hooks, output, present, shape, tagOf } = resource;
  const readerFor = byCaller(resource, createListReader);
  const find = createPageFinder(resource);
  // Another program, which shows other fields, makes other tags of the same versions.
  const program = contentTag(JSON.stringify([output, shape]));

  return async (call) => {
    const tree = readPopulate(resource, call.query);
    // The maximum length of a QUERY's body is checked when that body is read.
    const maxWhere = call.request.method === "QUERY" ? Infinity : undefined;
    const query = readerFor(call)(withoutPopulate(resource, call.query), maxWhere);
    if (query.trash !== undefined) requireTrash(resource, call);
    const found = await find(call, query, await listLimits(resource, call));
    const { documents } = found;
    const reading = readOwners(call, { resource, documents }, query.fields);
    const owners = reading && (await reading);
    // Rows of a hook or a relation may depend on more than the versions.
    const etag = tree || hooks.afterList ? undefined : versionsTag(call, found, owners);
    if (etag !== undefined && noneMatchHolds(call.request.headers.get("if-none-match"), etag)) {
      return empty(304, { headers: pageHeaders(found, etag) });
    }
    const shown = documents.map((document) => {
      const row = present(document, call, query.fields);
      return owners ? owners.show(document, row) : row;
    });
    const rows =
      (hooks.afterList && (await hooks.afterList({ call, documents, rows: shown }))) ?? shown;
    // Else it would show with one document what belongs to another.
    if (tree && rows.length !== shown.length) throw misaligned(resource, rows.length);
    const whole = tree ? await populate(call, { resource, documents, rows }, tree) : rows;
    const content = shape === "array" ? whole : { rows: whole, count: found.count };
    if (etag === undefined) return pageResponse(call, found, content);
    return json(content, { headers: pageHeaders(found, etag) });
  };

  /** Made of versions and not of the response: a response that is not sent need not be written. */
  function versionsTag(
    call: ResourceCall,
    { documents, count, link }: Found,
    owners: Owners | undefined,
  ): string {
    let versions = `${program} ${count ?? ""} ${link}`;
    for (const document of documents) {
      const tag = tagOf(document, call);
      versions += ` ${document.id} ${owners ? owners.tag(document, tag) : tag}`;
    }
    return contentTag(versions);
  }
}

function misaligned({ name }: Resource, count: number): RestError {
  const message = `the hook afterList of ${name} must return one row for each document, got ${count}`;
  return new RestError("ERR_REST_DEFINITION", message);
}

/**
 * Refuses who may not see removed documents: they are for admins, and for the holder of the master
 * key where the list needs it.
 *
 * @throws Problem 401 for nobody, 403 for a user.
 */
function requireTrash({ access }: Resource, { user }: ResourceCall): void {
  if (access.list === "master" || user?.role === "admin") return;
  throw user ? forbidden("only admins see what was removed") : bearerRequired(undefined);
}
