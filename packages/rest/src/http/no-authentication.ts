import { bearerRequired } from "../access.ts";
import { noSessionTokens } from "../session-tokens.ts";
import type { Authentication } from "./authentication.ts";

/** The authentication of an API for everyone: it recognizes nobody. */
export const noAuthentication: Authentication = {
  tokens: noSessionTokens,
  hasUsers: false,
  isMaster: () => false,
  admit(rule) {
    // Such routes are refused at start.
    if (rule !== "public") throw bearerRequired(undefined);
    return undefined;
  },
};
