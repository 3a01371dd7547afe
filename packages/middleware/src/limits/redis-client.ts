import { optionError } from "../check-options.ts";

/** The part of `ioredis` that a store needs. */
interface CallingRedisClient {
  /** Sends a command and resolves to its reply. */
  call(command: string, ...args: string[]): Promise<unknown>;
}

/** The part of `redis` (node-redis) that a store uses. For a cluster, pass one node. */
interface SendingRedisClient {
  /** Sends a command and resolves to its reply. */
  sendCommand(args: string[]): Promise<unknown>;
}

/** A connected client of Redis 5 or later, or of a database that speaks its protocol. */
export type RedisClient = CallingRedisClient | SendingRedisClient;

/** Runs a script with one key; Redis runs it as one, with nothing in between. */
export type RedisScript = (key: string, ...args: readonly string[]) => Promise<unknown>;

/**
 * Prepares a script of Redis. Its text travels once; after that its digest does, until the server
 * forgets it.
 *
 * @throws MiddlewareError `ERR_MIDDLEWARE_OPTION` for an object that is not a client
 */
export function redisScript(client: RedisClient, source: string): RedisScript {
  const send = senderOf(client);
  let digest: Promise<unknown> | undefined;
  return async (key, ...args) => {
    digest ??= send(["SCRIPT", "LOAD", source]);
    let known: unknown;
    try {
      known = await digest;
    } catch (error) {
      digest = undefined;
      throw error;
    }
    try {
      return await send(["EVALSHA", String(known), "1", key, ...args]);
    } catch (error) {
      // After a restart or a failover the server does not know it; this teaches it again.
      if (!(error instanceof Error) || !error.message.startsWith("NOSCRIPT")) throw error;
      return send(["EVAL", source, "1", key, ...args]);
    }
  };
}

function senderOf(client: RedisClient): (args: string[]) => Promise<unknown> {
  const given: unknown = client;
  if (typeof given === "object" && given !== null) {
    // ioredis has a `sendCommand` of another kind, so `call` is looked for first.
    if ("call" in client) return ([command = "", ...args]) => client.call(command, ...args);
    if ("sendCommand" in client) return (args) => client.sendCommand(args);
  }
  throw optionError("client", given, "a client of redis or ioredis");
}
