import { createOptionCheck, type OptionCheck } from "@fetchwork/kit";
import { VerifyError } from "./errors.ts";

/**
 * Refuses options that do not exist.
 *
 * @throws VerifyError
 */
export const checkOptions: OptionCheck = createOptionCheck((message) => new VerifyError(message));
