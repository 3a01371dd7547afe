import { createOptionCheck, type OptionCheck } from "@fetchwork/kit";
import { RestError } from "./errors.ts";

/**
 * Refuses options that do not exist.
 *
 * @throws RestError `ERR_REST_CONFIGURATION`
 */
export const checkOptions: OptionCheck = createOptionCheck(
  (message) => new RestError("ERR_REST_CONFIGURATION", message),
);

/**
 * Refuses names that a definition does not have.
 *
 * @throws RestError `ERR_REST_DEFINITION`
 */
export const checkDefinition: OptionCheck = createOptionCheck(
  (message) => new RestError("ERR_REST_DEFINITION", message),
);
