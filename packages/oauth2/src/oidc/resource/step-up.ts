import type { Challenge } from "../parse-challenges.ts";

/** What a resource wants of the user's authentication; each member is a parameter of an authorization request. */
export interface StepUp {
  /** Classes of authentication, most preferred first, separated by spaces. */
  readonly acr_values?: string | undefined;
  /** Longest time since the user signed in, in seconds. */
  readonly max_age?: number | undefined;
  /** Scope that the token must have. */
  readonly scope?: string | undefined;
}

/**
 * Returns the parameters of a new sign-in when a resource demands a recent or stronger authentication (RFC 9470, 3). Give the result to
 * `authCode.start`: the new ID token must then be as recent as that, and with `requireAcr` have one of the classes.
 *
 * @returns `undefined` when no challenge is `insufficient_user_authentication`
 */
export function stepUp(challenges: readonly Challenge[]): StepUp | undefined {
  const challenge = challenges.find(
    ({ parameters }) => parameters.get("error") === "insufficient_user_authentication",
  );
  if (challenge === undefined) return undefined;
  const { parameters } = challenge;
  const seconds = parameters.get("max_age");
  return {
    acr_values: parameters.get("acr_values"),
    max_age: seconds !== undefined && /^\d{1,9}$/.test(seconds) ? Number(seconds) : undefined,
    scope: parameters.get("scope"),
  };
}
