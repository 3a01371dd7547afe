import { RestError } from "../errors.ts";

const defaultLimit = 100;
const greatestLimit = 1_000;

/**
 * Reads the option `bulk`; 0 for a resource without bulk requests.
 *
 * @throws RestError `ERR_REST_DEFINITION` for a limit that is not 1 to 1,000
 */
export function bulkLimitOf(
  bulk: boolean | { readonly limit: number } | undefined,
  name: string,
): number {
  if (bulk === undefined || bulk === false) return 0;
  const limit = bulk === true ? defaultLimit : bulk.limit;
  if (Number.isSafeInteger(limit) && limit >= 1 && limit <= greatestLimit) return limit;
  const message = `the limit of bulk of ${name} must be a whole number from 1 to ${greatestLimit}`;
  throw new RestError("ERR_REST_DEFINITION", message);
}
