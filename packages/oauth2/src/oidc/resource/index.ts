// `@fetchwork/oauth2/oidc/resource`: what a protected resource says of itself and of the token that it wants.
export {
  fetchResourceMetadata,
  resourceMetadataUrl,
  type ResourceMetadata,
  type ResourceMetadataOptions,
} from "./resource-metadata.ts";
export { stepUp, type StepUp } from "./step-up.ts";
export { parseChallenges, type Challenge } from "../parse-challenges.ts";
