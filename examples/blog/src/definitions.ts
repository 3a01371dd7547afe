import { senderCollections } from "@fetchwork/webhooks/sender";
import { article } from "./api/article/model.ts";
import { identities, keptTokens } from "./api/social/model.ts";
import { user } from "./api/user/model.ts";

/** The collections of the blog, also for `fetchwork db --definitions examples/blog/src/definitions.ts`. */
export const collections: readonly [
  typeof user.collection,
  typeof article.collection,
  typeof identities,
  typeof keptTokens,
  ...(typeof senderCollections)[keyof typeof senderCollections][],
] = [
  user.collection,
  article.collection,
  identities,
  keptTokens,
  ...Object.values(senderCollections),
];
