import { createOptionCheck, type OptionCheck } from "@fetchwork/kit";
import { OAuth2UsageError } from "./errors.ts";

/**
 * Refuses options that do not exist; the message names the one that was probably meant.
 *
 * @throws OAuth2UsageError `ERR_OAUTH_OPTION`
 */
export const checkOptions: OptionCheck = createOptionCheck(
  (message) => new OAuth2UsageError("ERR_OAUTH_OPTION", message),
);
