import { BodyBudget } from "@fetchwork/kit";
import { amount } from "../../option-values.ts";

/** Limits of the bodies of requests. */
export interface BodyLimits {
  readonly maxRequestBodySize: number | undefined;
  readonly maxBodySize: number;
  readonly bodyBudget: BodyBudget;
}

/**
 * Checks the limits of bodies and fills in defaults.
 *
 * @throws HttpUsageError `ERR_HTTP_OPTION`
 */
export function checkBodyLimits(
  options: Readonly<
    Partial<Record<"maxRequestBodySize" | "maxBodySize" | "maxBufferedSize", number | undefined>>
  >,
): BodyLimits {
  const { maxRequestBodySize, maxBodySize = 1_048_576 } = options;
  const { maxBufferedSize = Math.max(67_108_864, maxBodySize) } = options;
  if (maxRequestBodySize !== undefined) amount(maxRequestBodySize, "maxRequestBodySize");
  amount(maxBodySize, "maxBodySize");
  amount(maxBufferedSize, "maxBufferedSize", undefined, maxBodySize);
  return { maxRequestBodySize, maxBodySize, bodyBudget: new BodyBudget(maxBufferedSize) };
}
