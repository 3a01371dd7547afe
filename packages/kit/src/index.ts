export { backoffDelay } from "./waiting/backoff.ts";
export { decodeBase64, encodeBase64, encodeBase64Url } from "./credentials/base64.ts";
export {
  formatBasicCredentials,
  parseBasicCredentials,
  type BasicCredentials,
} from "./credentials/basic-credentials.ts";
export { ByteCollector } from "./bodies/byte-collector.ts";
export { isConnectionHeader } from "./connection-headers.ts";
export { createOptionCheck, describeValue, type OptionCheck } from "./options/check-options.ts";
export { closestName } from "./options/closest-name.ts";
export { constantTimeEqual } from "./credentials/constant-time-equal.ts";
export { escapeHtml } from "./escape-html.ts";
export { isExposedError, type ExposedError } from "./errors/exposed-error.ts";
export {
  brand,
  errorBrand,
  FetchworkError,
  isFetchworkError,
  UsageError,
} from "./errors/fetchwork-error.ts";
export { formatIP, parseIP, type IPAddress } from "./addresses/ip-address.ts";
export { isInRange, networkAddress, parseIPRange, type IPRange } from "./addresses/ip-range.ts";
export { isLoopbackHost } from "./addresses/loopback-host.ts";
export { guardLogger, type Logger } from "./logger.ts";
export { maskForm, maskHeaders, maskJson, maskUrl, type MaskOptions } from "./secrets/mask.ts";
export { pause } from "./waiting/pause.ts";
export { isObject } from "./options/is-object.ts";
export { isPublicAddress } from "./addresses/public-address.ts";
export { BodyBudget, BodyShare } from "./bodies/body-budget.ts";
export { BodyBudgetError, BodyTooLargeError } from "./bodies/body-errors.ts";
export { readBody } from "./bodies/read-body.ts";
export { requestedDelay } from "./waiting/requested-delay.ts";
export { parseRetryAfter } from "./waiting/retry-after.ts";
export { isSecretName, isSecretParameter } from "./secrets/secret-names.ts";
export type { SchemaIssue, SchemaResult, StandardSchema } from "./standard-schema.ts";
export { QueueFullError, Semaphore, type SemaphoreOptions } from "./waiting/semaphore.ts";
