import { BodyBudget } from "@fetchwork/kit";
import { HttpUsageError } from "../../errors.ts";

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
  if (maxRequestBodySize !== undefined) checkSize("maxRequestBodySize", maxRequestBodySize, 0);
  checkSize("maxBodySize", maxBodySize, 0);
  checkSize("maxBufferedSize", maxBufferedSize, maxBodySize);
  return { maxRequestBodySize, maxBodySize, bodyBudget: new BodyBudget(maxBufferedSize) };
}

function checkSize(name: string, value: unknown, minimum: number): void {
  if (typeof value === "number" && Number.isSafeInteger(value) && value >= minimum) return;
  throw new HttpUsageError(
    "ERR_HTTP_OPTION",
    `${name} must be an integer of at least ${minimum}, got ${String(value)}`,
  );
}
