import { createOptionCheck, type OptionCheck } from "@fetchwork/kit";
import { ServiceError } from "./errors.ts";

/**
 * Refuses options that do not exist.
 *
 * @throws ServiceError
 */
export const checkOptions: OptionCheck = createOptionCheck((message) => new ServiceError(message));
