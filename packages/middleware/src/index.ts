export { appInfo, type AppInfoOptions } from "./observe/app-info.ts";
export { generateArgon2Hash, type Argon2Hash } from "./access/argon2-hash.ts";
export {
  basicAuthWithArgon2Hash,
  basicAuthWithArgon2HashAndPrompt,
  basicAuthWithBcryptHash,
  basicAuthWithBcryptHashAndPrompt,
} from "./access/basic-auth-hash.ts";
export { bearerAuth, bearerClaimsKey, type BearerAuthOptions } from "./access/bearer-auth.ts";
export {
  authorizedUser,
  basicAuth,
  basicAuthWithPrompt,
  basicAuthWithUserPasswd,
  isAuthorized,
  type BasicAuthOptions,
} from "./access/basic-auth.ts";
export { generateBcryptHash } from "./access/bcrypt-hash.ts";
export { bearer, type BearerOptions } from "./outbound/bearer.ts";
export {
  Benchmarks,
  benchmarks,
  type BenchmarkStats,
  type BenchmarksOptions,
} from "./observe/benchmarks.ts";
export { blackWords, blackWordsFn, type BlackWordsOptions } from "./access/black-words.ts";
export { cacheControl, cacheControlDynamic } from "./content/cache-control.ts";
export { canonicalPath, canonicalizePath } from "./path/canonical-path.ts";
export { cleanPath } from "./path/clean-path.ts";
export { compress, type CompressOptions } from "./content/compress/compress.ts";
export { cors, type CorsOptions } from "./content/cors.ts";
export {
  CrossOriginProtection,
  crossOriginProtection,
  type CrossOriginProtectionOptions,
} from "./access/cross-origin-protection.ts";
export { decodeJSON, InvalidBodyError, type DecodeJSONOptions } from "./json/decode-json.ts";
export {
  deprecation,
  sunset,
  type DeprecationOptions,
  type SunsetOptions,
} from "./content/deprecation.ts";
export {
  encodeJSON,
  renderJSON,
  renderJSONFromBytes,
  renderJSONWithHTML,
} from "./json/encode-json.ts";
export { AbortHandlerError, HandlerTimeoutError, MiddlewareError, RequestError } from "./errors.ts";
export { gzip } from "./content/compress/gzip.ts";
export { headers } from "./content/headers.ts";
export { health, type HealthCheck, type HealthItem, type HealthOptions } from "./observe/health.ts";
export type { IdempotencyStore, StoredResponse } from "./limits/idempotency-store.ts";
export { idempotency, type IdempotencyOptions } from "./limits/idempotency.ts";
export { ipMatcher } from "./address/ip-matcher.ts";
export { formatSpec, type LogRecord } from "./observe/log-record.ts";
export { anonymizeIP, logger, type LoggerOptions } from "./observe/logger.ts";
export { etag, type EtagOptions } from "./content/etag.ts";
export { except } from "./compose/except.ts";
export { some } from "./compose/some.ts";
export { maybe, type RequestCondition } from "./compose/maybe.ts";
export {
  memoryIdempotencyStore,
  type MemoryIdempotencyStoreOptions,
} from "./limits/memory-idempotency-store.ts";
export {
  memoryRateLimitStore,
  type MemoryRateLimitStoreOptions,
} from "./limits/memory-rate-limit-store.ts";
export { metrics, metricsAllowAll, type MetricsOptions } from "./observe/metrics.ts";
export { noCache, type NoCacheOptions } from "./content/no-cache.ts";
export { onlyFrom, type OnlyFromOptions } from "./access/only-from.ts";
export { parseFromTo, type FromTo } from "./request/parse-from-to.ts";
export { ping, type PingOptions } from "./observe/ping.ts";
export type { RateLimitStore, RateLimitVerdict } from "./limits/rate-limit-store.ts";
export { rateLimit, type RateLimitOptions } from "./limits/rate-limit.ts";
export { getRealIP, realIp, type RealIPOptions } from "./address/real-ip.ts";
export { ABORT_HANDLER, recoverer, type RecovererOptions } from "./observe/recoverer.ts";
export { redisRateLimitStore, type RedisStoreOptions } from "./limits/redis-rate-limit-store.ts";
export { reject } from "./access/reject.ts";
export { requestHeaders } from "./content/request-headers.ts";
export { retry, type RetryMiddlewareOptions } from "./outbound/retry.ts";
export { rewrite } from "./path/rewrite.ts";
export { cspNonceKey, secAllHeaders, secure, type SecureOptions } from "./content/secure.ts";
export { newErrorLogger, sendErrorJSON, type ErrorLogger } from "./json/send-error-json.ts";
export {
  addServerTiming,
  serverTiming,
  startServerTiming,
  type ServerTimingOptions,
} from "./observe/server-timing.ts";
export { sizeLimit, type SizeLimitOptions } from "./limits/size-limit.ts";
export { stripSlashes } from "./path/strip-slashes.ts";
export { throttle, type ThrottleOptions } from "./limits/throttle.ts";
export { timeout, type TimeoutOptions } from "./limits/timeout.ts";
export { toH3, type ToH3Options } from "./adapters/to-h3.ts";
export { toHono, type HonoMiddleware, type ToHonoOptions } from "./adapters/to-hono.ts";
export { getTraceID, trace, type TraceOptions } from "./observe/trace.ts";
export { wrap, type Context, type Handler, type Middleware } from "@fetchwork/http";
