import { parseChallenges, resourceMetadataUrl, stepUp } from "@fetchwork/oauth2/oidc/resource";
import { expect } from "../platform.ts";

/** Reads from a challenge what a resource demands, and where its metadata is. */
export function smoke(): Promise<void> {
  const metadata = "https://api.example/.well-known/oauth-protected-resource";
  const challenges = parseChallenges(
    `Bearer error="insufficient_user_authentication", max_age=60, resource_metadata="${metadata}"`,
  );
  expect("a recent sign-in", stepUp(challenges)?.max_age, 60);
  expect("the metadata", resourceMetadataUrl(challenges), metadata);
  return Promise.resolve();
}
