import type { PublicUsers } from "../resource/public-user.ts";
import type { Resource } from "../resource/resource.ts";

const shownFields = ["name", "picture"];

/** Makes what documents show of their owners, out of the resource of the users. */
export function publicUsers({ collection, present, tagOf, views }: Resource): PublicUsers {
  return {
    collection,
    show(user, viewer) {
      const open = views.fieldsOf(user, {}); // What everyone sees.
      const fields = shownFields.filter((field) => open.includes(field));
      const { name, picture } = present(user, { user: viewer }, fields);
      return { id: user.id, name: textOf(name), picture: textOf(picture) };
    },
    tagOf: (user, viewer) => tagOf(user, { user: viewer }),
  };
}

function textOf(value: unknown): string | null {
  return typeof value === "string" ? value : null;
}
