import { jobCollections } from "@fetchwork/documents/jobs"; // #if jobs
// #if users
import { attemptCollection, idempotencyCollection, rateLimitCollection } from "@fetchwork/rest";
// #endif
// #if !users
//+ import { idempotencyCollection } from "@fetchwork/rest";
// #endif
import { senderCollections } from "@fetchwork/webhooks/sender"; // #if webhooks
import { resources } from "./api/index.ts";
import { account } from "./services/accounts.ts"; // #if users

/** The collections of the store, also for `fetchwork db --definitions src/definitions.ts`. */
export const collections = [
  resources.map(({ collection }) => collection),
  idempotencyCollection,
  account.collections, // #if users
  Object.values(jobCollections), // #if jobs
  [attemptCollection, rateLimitCollection], // #if users
  Object.values(senderCollections), // #if webhooks
].flat();
