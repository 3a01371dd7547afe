import { jobCollections } from "@fetchwork/documents/jobs";
import { attemptCollection, rateLimitCollection } from "@fetchwork/rest";
import { senderCollections } from "@fetchwork/webhooks/sender";
import { resources } from "./api/index.ts";
import { resets } from "./api/password-reset/model.ts";
import { identities, keptTokens } from "./api/social/model.ts";

/** The collections of the store, also for `fetchwork db --definitions src/definitions.ts`. */
export const collections = [
  resources.map(({ collection }) => collection),
  [identities, keptTokens],
  resets.collection,
  Object.values(jobCollections),
  [attemptCollection, rateLimitCollection],
  Object.values(senderCollections),
].flat();
