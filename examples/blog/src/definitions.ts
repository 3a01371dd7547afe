import { jobCollections } from "@fetchwork/documents/jobs";
import { attemptCollection, idempotencyCollection, rateLimitCollection } from "@fetchwork/rest";
import { senderCollections } from "@fetchwork/webhooks/sender";
import { resources } from "./api/index.ts";
import { account } from "./services/accounts.ts";

/** The collections of the store, also for `fetchwork db --definitions src/definitions.ts`. */
export const collections = [
  resources.map(({ collection }) => collection),
  idempotencyCollection,
  account.collections,
  Object.values(jobCollections),
  [attemptCollection, rateLimitCollection],
  Object.values(senderCollections),
].flat();
