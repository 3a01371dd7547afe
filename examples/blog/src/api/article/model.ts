import { defineResource, type DocumentOf } from "@fetchwork/rest";
import { z } from "zod";

/**
 * Articles:
 * - everyone may list and show
 * - users may create
 * - the author and admins may update and remove
 */
export const article = defineResource({
  name: "article",
  path: "/articles",
  schema: z.object({
    title: z.string().trim().min(1).max(200),
    content: z.string().trim().max(50_000).default(""),
  }),
  access: { list: "public", show: "public", create: "user", update: "owner", remove: "owner" },
  owner: "author",
  search: ["title", "content"],
  sort: ["title"],
  changes: "documents",
});

export type Article = DocumentOf<typeof article>;
