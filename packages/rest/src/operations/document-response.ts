import type { Stored } from "@fetchwork/documents";
import { json } from "@fetchwork/http";
import type { Fields } from "../fields.ts";
import type { ResourceCall } from "../resource/call.ts";
import type { Resource } from "../resource/resource.ts";
import { readOwners } from "./owners.ts";

/** One document as a caller sees it. */
export interface ShownDocument {
  readonly shown: Fields;
  readonly etag: string;
}

/**
 * Shows one document to a caller, with its owner where the resource shows it.
 *
 * @param fields - The only fields to show, as `fields` names them. Default: all that the caller
 * sees.
 */
export async function showDocument(
  resource: Resource,
  call: ResourceCall<unknown>,
  document: Stored<Fields>,
  fields?: readonly string[],
): Promise<ShownDocument> {
  const shown = resource.present(document, call, fields);
  const etag = resource.tagOf(document, call);
  const owners = await readOwners(call, { resource, documents: [document] }, fields);
  if (!owners) return { shown, etag };
  return { shown: owners.show(document, shown), etag: owners.tag(document, etag) };
}

/** Responds with one document and its entity tag, after a change. */
export async function documentResponse(
  resource: Resource,
  call: ResourceCall<unknown>,
  document: Stored<Fields>,
  init: { readonly status?: number; readonly headers?: Readonly<Record<string, string>> } = {},
): Promise<Response> {
  const { shown, etag } = await showDocument(resource, call, document);
  return json(shown, { ...init, headers: { etag, ...init.headers } });
}
