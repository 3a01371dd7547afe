import type { ChangeKind, Store, Stored } from "@fetchwork/documents";
import { adminViewer, type Fields, type PublicUser, type Resource } from "@fetchwork/rest";
import type { AnnouncedCollection } from "@fetchwork/webhooks/sender";

/** Actions on documents, as events are named: `article.created`. */
export const announcedActions = ["created", "updated", "removed", "restored"] as const;

/** Actions by kind of change. A removal for good comes after one that was announced already. */
const actions: Readonly<Partial<Record<ChangeKind, (typeof announcedActions)[number]>>> = {
  insert: "created",
  update: "updated",
  remove: "removed",
  restore: "restored",
};

/**
 * Says how changes of resources are announced: `article` with the action `created`, `updated`,
 * `removed` or `restored`, and the document as the holder of the master key sees it, with its
 * owner; of a removed one its `id`. Resources need `changes: "documents"`.
 *
 * @param users - The resource of the users. Without it, no owners are shown.
 */
export function announcedResources(
  resources: readonly Resource[],
  { store, users }: { readonly store: Store; readonly users: Resource | undefined },
): readonly AnnouncedCollection[] {
  return resources.map((resource) => ({
    collection: resource.collection,
    event: async ({ document, id, kind }) => {
      const { name } = resource;
      const action = actions[kind];
      if (action === undefined) return undefined;
      const shown = document && kind !== "remove" ? await show(resource, document) : { id };
      return { name, payload: { action, [name]: shown } };
    },
  }));

  async function show(
    { present, shownOwner, views }: Resource,
    document: Stored<Fields>,
  ): Promise<Fields> {
    const shown = present(document, adminViewer);
    const isSeen = shownOwner !== undefined && !views.hides(shownOwner, adminViewer, document);
    if (!isSeen || users === undefined) return shown;
    const owner = document[shownOwner];
    const user =
      typeof owner === "string" ? await store.collection(users.collection).get(owner) : undefined;
    return { ...shown, [shownOwner]: user ? publicUser(users, user) : null };
  }
}

/** Returns the fields of a user that everyone may see. */
function publicUser(users: Resource, user: Stored<Fields>): PublicUser {
  const { name, picture } = users.present(user, {});
  return { id: user.id, name: textOf(name), picture: textOf(picture) };
}

function textOf(value: unknown): string | null {
  return typeof value === "string" ? value : null;
}
