import {
  partLength,
  windowParts,
  type RateLimitStore,
  type RateLimitVerdict,
} from "./rate-limit-store.ts";
import { redisScript, type RedisClient } from "./redis-client.ts";
import { checkOptions, optionError, type OptionNames } from "../check-options.ts";

/** Options of the stores in Redis. */
export interface RedisStoreOptions {
  /** Start of all keys. Default: `rate-limit:` or `idempotency:`, after the store. */
  readonly prefix?: string | undefined;
}

// One hash per key: number of the part -> requests in it. The clock is the server's, so processes need not agree.
const script = `
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
local limit, length, parts = tonumber(ARGV[1]), tonumber(ARGV[2]), tonumber(ARGV[3])
local part = math.floor(now / length)
local used, oldest = 0, part
local entries = redis.call('HGETALL', KEYS[1])
for i = 1, #entries, 2 do
  local number = tonumber(entries[i])
  if number < part - parts then
    redis.call('HDEL', KEYS[1], entries[i])
  else
    used = used + tonumber(entries[i + 1])
    if number < oldest then oldest = number end
  end
end
local allowed = 0
if used < limit then
  allowed = 1
  used = used + 1
  redis.call('HINCRBY', KEYS[1], string.format('%.0f', part), 1)
  redis.call('PEXPIRE', KEYS[1], (parts + 1) * length)
end
return { allowed, math.max(limit - used, 0), (oldest + parts + 1) * length - now }
`;

/**
 * Makes a store that counts in Redis, for all processes together. Each request is one script, so no two of them are
 * counted as one; a key is gone when its window is.
 *
 * The length of the window is part of the key, since parts of different lengths cannot be added.
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
  checkOptions(options, knownOptions);
  const { prefix = "rate-limit:" } = options;
  if (typeof prefix !== "string") throw optionError("prefix", prefix, "text");
  const run = redisScript(client, script);
  return {
    async take(key, { limit, window }) {
      const length = partLength(window);
      const reply = await run(
        `${prefix}${length}:${key}`,
        String(limit),
        String(length),
        String(windowParts),
      );
      return readVerdict(reply);
    },
  };
}

function readVerdict(reply: unknown): RateLimitVerdict {
  const [isAllowed, remaining, resetAfter] = Array.isArray(reply) ? reply.map(Number) : [];
  if (isAllowed === undefined || remaining === undefined || resetAfter === undefined) {
    throw new TypeError("Redis replied something else than the script returns");
  }
  return { isAllowed: isAllowed === 1, remaining, resetAfter };
}

const knownOptions: OptionNames<RedisStoreOptions> = {
  owner: "redisRateLimitStore",
  names: {
    prefix: true,
  },
  otherNames: {
    keyPrefix: "prefix",
    namespace: "prefix",
  },
};
