import type { Stored } from "@fetchwork/documents";
import type { Fields } from "../fields.ts";
import type { ResourceCall } from "../resource/call.ts";
import type { PublicUsers } from "../resource/public-user.ts";
import type { Resource } from "../resource/resource.ts";

/** The owners of documents, as a caller sees them. */
export interface Owners {
  /** Adds the owner of a document to what is shown of it, for callers who see the owner. */
  show(document: Stored<Fields>, row: Fields): Fields;
  /** Adds the version of the owner to the entity tag of a document: both changes change it. */
  tag(document: Stored<Fields>, etag: string): string;
}

/** Documents of a resource. */
interface Owned {
  readonly resource: Resource;
  readonly documents: readonly Stored<Fields>[];
}

/**
 * Reads the owners of documents with one query. It reads nothing, and returns `undefined`, where
 * the resource does not show them, the caller does not see them, or the API has no users.
 *
 * @param fields - The only fields that are shown, as `fields` names them. Default: all that the
 * caller sees.
 */
export function readOwners(
  call: ResourceCall<unknown>,
  { resource, documents }: Owned,
  fields?: readonly string[],
): Promise<Owners> | undefined {
  const { shownOwner, views } = resource;
  const { users } = call.resources;
  if (shownOwner === undefined || users === undefined) return undefined;
  if (fields && !fields.includes(shownOwner)) return undefined;
  const seen = views.differ
    ? documents.filter((document) => !views.hides(shownOwner, call, document))
    : documents;
  if (seen.length === 0) return undefined;
  return read(call, { users, views, documents: seen, field: shownOwner });
}

async function read(
  call: ResourceCall<unknown>,
  {
    users,
    documents,
    field,
    views,
  }: {
    readonly users: PublicUsers;
    readonly views: Resource["views"];
    /** Documents whose owner the caller sees. */
    readonly documents: readonly Stored<Fields>[];
    readonly field: string;
  },
): Promise<Owners> {
  const ids = new Set(documents.map((document) => ownerIn(document, field)));
  ids.delete("");
  // Reads are part of the transaction of the call, where it has one.
  const reader = call.transaction ?? call.store;
  const found = ids.size === 0 ? [] : await reader.collection(users.collection).getMany([...ids]);
  // Documents of one page share their owners.
  const known = new Map(
    found.flatMap((user) => {
      if (!user) return [];
      const shown = users.show(user, call.user);
      return [[user.id, { shown, tag: users.tagOf(user, call.user).slice(1, -1) }] as const];
    }),
  );
  const seen = views.differ ? new Set(documents.map(({ id }) => id)) : undefined;
  const isSeen = ({ id }: Stored<Fields>): boolean => seen?.has(id) !== false;

  return {
    show(document, row) {
      if (!isSeen(document)) return row;
      const user = known.get(ownerIn(document, field));
      return { ...row, [field]: user ? { ...user.shown } : null };
    },
    tag(document, etag) {
      if (!isSeen(document)) return etag;
      return `${etag.slice(0, -1)}~${known.get(ownerIn(document, field))?.tag ?? "0"}"`;
    },
  };
}

/** Reads the identifier of the owner; `""` for a document that has none. */
function ownerIn(document: Stored<Fields>, field: string): string {
  const id = document[field];
  return typeof id === "string" ? id : "";
}
