import { jobCollections } from "@fetchwork/documents/jobs"; // #if jobs
import { attemptCollection, rateLimitCollection } from "@fetchwork/rest"; // #if users
import { senderCollections } from "@fetchwork/webhooks/sender"; // #if webhooks
import { resources } from "./api/index.ts";
import { identities, keptTokens } from "./api/social/model.ts"; // #if oidc
import { account } from "./services/accounts.ts"; // #if users

/** The collections of the store, also for `fetchwork db --definitions src/definitions.ts`. */
export const collections = [
  resources.map(({ collection }) => collection),
  [identities, keptTokens], // #if oidc
  account.collections, // #if users
  Object.values(jobCollections), // #if jobs
  [attemptCollection, rateLimitCollection], // #if users
  Object.values(senderCollections), // #if webhooks
].flat();
