export { backoffDelay, requestedDelay, type BackoffOptions } from "./backoff.ts";
export { encodeBase64, decodeBase64 } from "./base64.ts";
export {
  formatBasicCredentials,
  hasControlCharacter,
  parseBasicCredentials,
  type BasicCredentials,
} from "./basic-credentials.ts";
export { ByteCollector } from "./byte-collector.ts";
export { checkOptions, type KnownOptions } from "./check-options.ts";
export { closestName } from "./closest-name.ts";
export { constantTimeEqual } from "./constant-time-equal.ts";
export { describeValue } from "./describe-value.ts";
export { isExposedError, type ExposedError } from "./exposed-error.ts";
export {
  brand,
  errorBrand,
  FetchworkError,
  isFetchworkError,
  UsageError,
} from "./fetchwork-error.ts";
export { formatIP, parseIP, type IPAddress } from "./ip-address.ts";
export { guardLogger, type Logger } from "./logger.ts";
export { maskForm, maskHeaders, maskJson, maskUrl, type MaskOptions } from "./mask.ts";
export { pause } from "./pause.ts";
export { isPublicAddress } from "./public-address.ts";
export { BodyTooLargeError, readBody, type ReadBodyOptions } from "./read-body.ts";
export { parseRetryAfter } from "./retry-after.ts";
export { isSecretName, isSecretParameter } from "./secret-names.ts";
export { QueueFullError, Semaphore, type SemaphoreOptions } from "./semaphore.ts";
