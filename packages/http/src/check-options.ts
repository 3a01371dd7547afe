import { createOptionCheck, type OptionCheck } from "@fetchwork/kit/options";
import { HttpUsageError } from "./errors.ts";

/**
 * Rejects options with other names, so that a misspelt one is never ignored.
 *
 * @throws HttpUsageError `ERR_HTTP_OPTION`
 */
export const checkOptions: OptionCheck = createOptionCheck(
  (message) => new HttpUsageError("ERR_HTTP_OPTION", message),
);
