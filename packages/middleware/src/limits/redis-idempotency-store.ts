import type { IdempotencyRecord, IdempotencyRun, IdempotencyStore } from "./idempotency-store.ts";
import { redisScript, type RedisClient } from "./redis-client.ts";
import type { RedisStoreOptions } from "./redis-rate-limit-store.ts";
import { checkOptions, optionError } from "../check-options.ts";

const beginScript = `
local known = redis.call('GET', KEYS[1])
if known then return known end
redis.call('SET', KEYS[1], ARGV[1], 'PX', ARGV[2])
return false
`;

// A released key is taken again: a stored response is better than none.
const completeScript = `
local known = redis.call('GET', KEYS[1])
if known and known ~= ARGV[1] then return 0 end
redis.call('SET', KEYS[1], ARGV[2], 'PX', ARGV[3])
return 1
`;

const abandonScript = `
if redis.call('GET', KEYS[1]) == ARGV[1] then return redis.call('DEL', KEYS[1]) end
return 0
`;

/**
 * Makes a store in Redis, for all processes together. Everyone who can read that Redis can read the stored responses.
 *
 * @throws MiddlewareError `ERR_MIDDLEWARE_OPTION`
 */
export function redisIdempotencyStore(
  client: RedisClient,
  options: RedisStoreOptions = {},
): IdempotencyStore {
  checkOptions("redisIdempotencyStore", options, ["prefix"]);
  const { prefix = "idempotency:" } = options;
  if (typeof prefix !== "string") throw optionError("prefix", prefix, "text");
  const begin = redisScript(client, beginScript);
  const complete = redisScript(client, completeScript);
  const abandon = redisScript(client, abandonScript);
  return {
    async begin(key, run) {
      const known = await begin(prefix + key, mark(run), String(run.lockFor));
      if (known === null || known === undefined) return undefined;
      return readRecord(known);
    },
    async complete(key, run) {
      const { response, fingerprint, keepFor } = run;
      const record = JSON.stringify({ fingerprint, response });
      await complete(prefix + key, mark(run), record, String(keepFor));
    },
    async abandon(key, run) {
      await abandon(prefix + key, mark(run));
    },
  };
}

/** The value in Redis while a request runs. */
function mark({ fingerprint, owner }: IdempotencyRun): string {
  return JSON.stringify({ fingerprint, owner });
}

function readRecord(reply: unknown): IdempotencyRecord {
  const record: unknown = typeof reply === "string" ? JSON.parse(reply) : undefined;
  if (typeof record !== "object" || record === null || !("fingerprint" in record)) {
    throw new TypeError("a key of redisIdempotencyStore holds another value");
  }
  // Only `complete` and `begin` write under the prefix.
  return record as IdempotencyRecord;
}
