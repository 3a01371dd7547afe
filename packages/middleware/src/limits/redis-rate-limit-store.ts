import { partLength, type RateLimitStore, type RateLimitVerdict } from "./rate-limit-store.ts";
import { redisScript, type RedisClient } from "./redis-client.ts";
import { checkOptions, optionError } from "../check-options.ts";

/** Options of {@link redisRateLimitStore}. */
export interface RedisStoreOptions {
  /** Start of all keys. Default: `rate-limit:`. */
  readonly prefix?: string | undefined;
}

// One hash per key: time of the first request of a part -> time of its last one and the number of
// them. Times are the server's, in microseconds, so processes need not agree. Another form of the
// values needs another version in the key.
const script = `
local time = redis.call('TIME')
local now = time[1] * 1000000 + time[2]
local limit, window, length = tonumber(ARGV[1]), ARGV[2] * 1000, ARGV[3] * 1000
local used, oldest, start, last, count = 0, now, nil, now, 0
local entries = redis.call('HGETALL', KEYS[1])
for i = 1, #entries, 2 do
  local ending, requests = string.match(entries[i + 1], '(%d+) (%d+)')
  local first = tonumber(entries[i])
  ending, requests = tonumber(ending), tonumber(requests)
  if ending <= now - window then
    redis.call('HDEL', KEYS[1], entries[i])
  else
    used = used + requests
    if ending < oldest then oldest = ending end
    if not start or first > start then start, last, count = first, ending, requests end
  end
end
local allowed = 0
if used < limit then
  allowed = 1
  used = used + 1
  if not start or now - start > length then start, last, count = now, now, 0 end
  local value = string.format('%.0f %d', math.max(last, now), count + 1)
  redis.call('HSET', KEYS[1], string.format('%.0f', start), value)
  redis.call('PEXPIRE', KEYS[1], ARGV[2] + 1)
end
return { allowed, math.max(limit - used, 0), math.ceil((oldest + window - now) / 1000) }
`;

/**
 * Makes a store that counts in Redis, for all processes together. Each request is one script, so no
 * two of them are counted as one; a key is gone when its window is.
 *
 * The key has the length of the window, which decides what is still counted, and the form of the
 * values.
 *
 * @example
 * ```ts
 * const store = redisRateLimitStore(await createClient({ url }).connect());
 * ```
 * @throws MiddlewareError `ERR_MIDDLEWARE_OPTION`
 */
export function redisRateLimitStore(
  client: RedisClient,
  options: RedisStoreOptions = {},
): RateLimitStore {
  checkOptions("redisRateLimitStore", options, ["prefix"]);
  const { prefix = "rate-limit:" } = options;
  if (typeof prefix !== "string") throw optionError("prefix", prefix, "text");
  const run = redisScript(client, script);
  return {
    async take(key, quota) {
      const { limit, window } = quota;
      const result = await run(
        `${prefix}v2:${window}:${key}`,
        String(limit),
        String(window),
        String(partLength(quota)),
      );
      return readVerdict(result);
    },
  };
}

function readVerdict(result: unknown): RateLimitVerdict {
  const [isAllowed, remaining, resetAfter] = Array.isArray(result) ? result.map(Number) : [];
  if (isAllowed === undefined || remaining === undefined || resetAfter === undefined) {
    throw new TypeError("Redis replied something else than the script returns");
  }
  return { isAllowed: isAllowed === 1, remaining, resetAfter };
}
