export { acceptsEncoding, chooseEncoding } from "./accept-encoding.ts";
export type { AddressGuardOptions } from "./address-guard.ts";
export { anonymizeIP } from "./anonymize-ip.ts";
export { appInfo, type AppInfoOptions } from "./app-info.ts";
export { generateArgon2Hash, type Argon2Hash } from "./argon2-hash.ts";
export {
  authorizedUser,
  basicAuth,
  basicAuthWithArgon2Hash,
  basicAuthWithArgon2HashAndPrompt,
  basicAuthWithBcryptHash,
  basicAuthWithBcryptHashAndPrompt,
  basicAuthWithPrompt,
  basicAuthWithUserPasswd,
  isAuthorized,
  type BasicAuthHashOptions,
  type BasicAuthOptions,
  type CredentialChecker,
} from "./basic-auth.ts";
export { generateBcryptHash } from "./bcrypt-hash.ts";
export { bearer, type BearerOptions, type TokenSource } from "./bearer.ts";
export {
  Benchmarks,
  benchmarks,
  type BenchmarkStats,
  type BenchmarksMiddleware,
  type BenchmarksOptions,
} from "./benchmarks.ts";
export { blackWords, blackWordsFn, type BlackWordsOptions } from "./black-words.ts";
export { bypassPattern, type RequestMatcher } from "./bypass-pattern.ts";
export {
  cacheControl,
  cacheControlDynamic,
  type CacheControlOptions,
  type VersionFunction,
} from "./cache-control.ts";
export { canonicalPath, canonicalizePath } from "./canonical-path.ts";
export { cleanDoubleSlashes, cleanPath } from "./clean-path.ts";
export { compress, type CompressOptions } from "./compress.ts";
export type { ContentCoding } from "./content-encoder.ts";
export { cors, type CorsOptions, type OriginCheck } from "./cors.ts";
export {
  CrossOriginProtection,
  crossOriginProtection,
  type CrossOriginProtectionOptions,
} from "./cross-origin-protection.ts";
export {
  decodeJSON,
  InvalidBodyError,
  type DecodeJSONOptions,
  type DecodeJSONSchemaOptions,
  type SchemaIssue,
  type SchemaResult,
  type StandardSchema,
} from "./decode-json.ts";
export { deprecation, sunset, type DeprecationOptions, type SunsetOptions } from "./deprecation.ts";
export { encodeJSON, renderJSON, renderJSONFromBytes, renderJSONWithHTML } from "./encode-json.ts";
export {
  AbortHandlerError,
  HandlerTimeoutError,
  MiddlewareError,
  RequestError,
  type MiddlewareErrorCode,
  type RequestErrorCode,
} from "./errors.ts";
export { etagMatches } from "./etag-matches.ts";
export { formatDuration } from "./format-duration.ts";
export {
  addressOfNode,
  parseForwarded,
  parseForwardedFor,
  type ForwardedElement,
} from "./forwarded.ts";
export { gzip, gzipTypes } from "./gzip.ts";
export type { HeaderFields } from "./header-fields.ts";
export { headers } from "./headers.ts";
export { health, type HealthCheck, type HealthItem, type HealthOptions } from "./health.ts";
export type {
  IdempotencyRecord,
  IdempotencyRun,
  IdempotencyStore,
  StoredAnswer,
} from "./idempotency-store.ts";
export { idempotency, type IdempotencyOptions } from "./idempotency.ts";
export { ipMatcher, type IPMatcher } from "./ip-matcher.ts";
export { isInRange, parseIPRange, type IPRange } from "./ip-range.ts";
export { httpsCheck, type HttpsCheck, type HttpsCheckOptions } from "./is-https.ts";
export {
  formatCombined,
  formatJSON,
  formatSpec,
  type LogFormatter,
  type LogRecord,
} from "./log-record.ts";
export type { LogSink } from "./log-sink.ts";
export { logger, type LogField, type LoggerBodyOptions, type LoggerOptions } from "./logger.ts";
export { queryMasker } from "./mask-query.ts";
export { maybe, type RequestCondition } from "./maybe.ts";
export {
  memoryIdempotencyStore,
  type MemoryIdempotencyStoreOptions,
} from "./memory-idempotency-store.ts";
export {
  memoryRateLimitStore,
  type MemoryRateLimitStoreOptions,
} from "./memory-rate-limit-store.ts";
export { metrics, metricsAllowAll, type MetricsOptions } from "./metrics.ts";
export { noCache, type NoCacheOptions } from "./no-cache.ts";
export { onlyFrom, type OnlyFromOptions } from "./only-from.ts";
export {
  openTelemetry,
  type OpenTelemetryApi,
  type OpenTelemetryOptions,
  type OpenTelemetrySpan,
} from "./open-telemetry.ts";
export { originMatcher, type OriginMatcher } from "./origin-matcher.ts";
export { parseFromTo, parseTimestamp, type FromTo } from "./parse-from-to.ts";
export { ping, type PingOptions } from "./ping.ts";
export type { RateLimitQuota, RateLimitStore, RateLimitVerdict } from "./rate-limit-store.ts";
export { rateLimit, type RateLimitOptions } from "./rate-limit.ts";
export {
  getRealIP,
  realIp,
  type ClientAddressHeader,
  type PeerHolder,
  type RealIPOptions,
} from "./real-ip.ts";
export { ABORT_HANDLER, recoverer, type RecovererOptions } from "./recoverer.ts";
export type { CallingRedisClient, RedisClient, SendingRedisClient } from "./redis-client.ts";
export { redisIdempotencyStore } from "./redis-idempotency-store.ts";
export { redisRateLimitStore, type RedisStoreOptions } from "./redis-rate-limit-store.ts";
export { reject } from "./reject.ts";
export { requestHeaders } from "./request-headers.ts";
export { retry, type RetryOptions } from "./retry.ts";
export { rewrite } from "./rewrite.ts";
export {
  secAllHeaders,
  secure,
  type HstsOptions,
  type PolicyFunction,
  type SecureOptions,
} from "./secure.ts";
export {
  newErrorLogger,
  sendErrorJSON,
  type ErrorLogger,
  type FailureReport,
  type SendErrorOptions,
} from "./send-error-json.ts";
export {
  addServerTiming,
  serverTiming,
  startServerTiming,
  type ServerTiming,
  type ServerTimingOptions,
} from "./server-timing.ts";
export { sizeLimit, type SizeLimitOptions } from "./size-limit.ts";
export { stripSlashes } from "./strip-slashes.ts";
export { throttle, type ThrottleOptions } from "./throttle.ts";
export { timeout, type TimeoutOptions } from "./timeout.ts";
export { toH3, type H3Event, type H3Middleware, type ToH3Options } from "./to-h3.ts";
export { toHono, type HonoContext, type HonoMiddleware, type ToHonoOptions } from "./to-hono.ts";
export { getTraceID, trace, type TraceOptions } from "./trace.ts";
export { wrap, type Context, type Handler, type Middleware } from "@fetchwork/http";
