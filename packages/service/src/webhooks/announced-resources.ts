import type { ChangeKind } from "@fetchwork/documents";
import { adminViewer, type Resource } from "@fetchwork/rest";
import type { AnnouncedCollection } from "@fetchwork/webhooks/sender";

/** What happened to documents, as events are named: `article.created`. */
export const announcedActions = ["created", "updated", "removed", "restored"] as const;

/** What happened to a document. One that is removed for good was announced when it was removed. */
const actions: Readonly<Partial<Record<ChangeKind, (typeof announcedActions)[number]>>> = {
  insert: "created",
  update: "updated",
  remove: "removed",
  restore: "restored",
};

/**
 * Says how changes of resources are announced: `article` with the action `created`, `updated`, `removed` or `restored`, and
 * the document as admins see it, of a removed one its `id`. Resources need `changes: "documents"`.
 */
export function announcedResources(resources: readonly Resource[]): readonly AnnouncedCollection[] {
  return resources.map(({ collection, name, present }) => ({
    collection,
    event: ({ document, id, kind }) => {
      const action = actions[kind];
      if (action === undefined) return undefined;
      const shown = document && kind !== "remove" ? present(document, adminViewer) : { id };
      return { name, payload: { action, [name]: shown } };
    },
  }));
}
