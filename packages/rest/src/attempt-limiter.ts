import { formatIP, networkAddress, parseIP, QueueFullError, Semaphore } from "@fetchwork/kit";
import { type AttemptRule, type AttemptStore, memoryAttemptStore } from "./attempt-store.ts";
import { checkOptions } from "./check-options.ts";
import { checkConfigured } from "./errors.ts";
import { Problem } from "./problem.ts";

/** The account and the origin of an attempt. */
export interface AttemptBy {
  /** Name of the account that is tried, whether there is one or not; such as an email. */
  readonly account: string;
  /** Address of the client, as no client can choose it. Default: none is known. */
  readonly address?: string | undefined;
  /**
   * Attempts of the client's network that go on at once; the others wait. Their failures count for
   * the network as well, whichever accounts they were for. Default: any number, and none counts so.
   */
  readonly atOnce?: number | undefined;
}

/** An attempt that may be made. */
export interface SignInAttempt {
  /** Reports what became of it, once; `neither` counts for nothing, as for a server's fault. */
  end(outcome: "success" | "failure" | "neither"): Promise<void>;
}

/** Slows guessing down. */
export interface AttemptLimiter {
  /**
   * Counts an attempt. Two of an account go on at once, the others wait for them.
   *
   * @throws Problem 429 with `Retry-After` when it may not be made now, 503 when 200 of that
   * account or network wait already.
   */
  begin(by: AttemptBy): Promise<SignInAttempt>;
  /** Forgets the failures of an account, and of the address's network, as after a new password. */
  forget(by: Pick<AttemptBy, "account" | "address">): Promise<void>;
}

/** Options of {@link createAttemptLimiter}. */
export interface AttemptLimiterOptions {
  /** Failed attempts without consequence, at least 3. Default: `10`. */
  readonly limit?: number | undefined;
  /** Wait after as many, in seconds; each further failure doubles it. Default: `60`. */
  readonly firstDelay?: number | undefined;
  /** Longest wait, in seconds. Default: `900`. */
  readonly maxDelay?: number | undefined;
  /** Time without attempts after which all are forgotten, in seconds. Default: `3_600`. */
  readonly memory?: number | undefined;
  /** Keeps the counts. Default: each process counts in its memory. */
  readonly store?: AttemptStore | undefined;
}

/** Milliseconds for which a network is trusted with an account after signing in from there. */
const trustLifetime = 30 * 86_400_000;

/** No email is longer (RFC 5321 section 4.5.3.1.3), so longer names may share their counts. */
const maxAccountLength = 254;

/**
 * Attempts of one account that run at the same time. Attempts that have not ended count as failed,
 * so more of them would slow down a user with several tabs.
 */
const maxRunning = 2;

/** How many times as many failures a network may have on all accounts as an account has alone. */
const accountsOfNetwork = 10;

/** Attempts of one account, or network, that wait for the running ones. */
const maxWaiting = 200;

/**
 * Limits failed attempts of an account, from wherever they come, with waits that grow. Limits those
 * of a network on all accounts, ten times as many: it cannot try one password on each.
 *
 * Nobody can lock a user out. A network is an IPv4 address, or a /64 of IPv6. One from which the
 * account was signed in to within 30 days counts for itself: failures elsewhere do not slow it
 * down. Names that no account has count in the same way, so nothing tells which have one. Successes
 * never count; each from such a network makes up for one failure there only, so nobody in it
 * guesses on after each.
 *
 * @throws RestError `ERR_REST_CONFIGURATION` for numbers that cannot serve.
 */
export function createAttemptLimiter(options: AttemptLimiterOptions = {}): AttemptLimiter {
  checkOptions("createAttemptLimiter", options, [
    "limit",
    "firstDelay",
    "maxDelay",
    "memory",
    "store",
  ]);
  const { limit = 10, firstDelay = 60, maxDelay = 900, memory = 3_600 } = options;
  const { store = memoryAttemptStore() } = options;
  checkNumber("limit", limit, 3);
  for (const [name, seconds] of Object.entries({ firstDelay, maxDelay, memory })) {
    checkNumber(name, seconds, 1);
  }
  const rule: AttemptRule = {
    limit,
    firstDelay: firstDelay * 1_000,
    maxDelay: maxDelay * 1_000,
    memory: memory * 1_000,
  };
  const turns = new Map<string, Semaphore>();

  return {
    async begin(by) {
      const account = by.account.slice(0, maxAccountLength);
      const network = by.address === undefined ? "nowhere" : networkOf(by.address);
      const places = [{ place: keyOf(account), size: maxRunning }];
      if (by.atOnce !== undefined) places.unshift({ place: ofNetwork(network), size: by.atOnce });
      const leave = await enter(places);
      try {
        const pair = pairOf(account, network);
        const isTrusted = by.address !== undefined && (await store.isTrusted(pair));
        const key = isTrusted ? pair : keyOf(account);
        const counted = [{ key, rule }];
        if (by.atOnce !== undefined && !isTrusted) {
          const larger = { ...rule, limit: limit * accountsOfNetwork };
          counted.unshift({ key: ofNetwork(network), rule: larger });
        }
        await countAll(counted);
        return {
          async end(outcome) {
            try {
              const makesUp = outcome === "success" && isTrusted;
              if (outcome !== "failure") await refundAll(counted, makesUp ? 2 : 1);
              if (outcome === "success" && by.address !== undefined) {
                await store.trust(pair, trustLifetime);
              }
            } finally {
              leave();
            }
          },
        };
      } catch (error) {
        leave();
        throw error;
      }
    },
    async forget(by) {
      const account = by.account.slice(0, maxAccountLength);
      await store.forget(keyOf(account));
      if (by.address !== undefined) await store.forget(pairOf(account, networkOf(by.address)));
    },
  };

  /** Counts an attempt under each key, or under none where one has to wait. */
  async function countAll(counted: readonly CountedKey[]): Promise<void> {
    for (const [index, { key, rule: limits }] of counted.entries()) {
      const wait = await store.begin(key, limits);
      if (wait === 0) continue;
      await refundAll(counted.slice(0, index), 1);
      throw tooMany(wait);
    }
  }

  async function refundAll(counted: readonly CountedKey[], count: number): Promise<void> {
    for (const { key } of counted) await store.refund(key, count);
  }

  /** Waits for each place in order. Returns the function that leaves them. */
  async function enter(
    places: readonly { readonly place: string; readonly size: number }[],
  ): Promise<() => void> {
    const entered: string[] = [];
    const leave = (): void => entered.forEach(leavePlace);
    for (const { place, size } of places) {
      const turn = turns.get(place) ?? new Semaphore(size, { maxWaiting });
      turns.set(place, turn);
      try {
        await turn.acquire();
      } catch (error) {
        leave();
        if (!(error instanceof QueueFullError)) throw error;
        const headers = { "retry-after": "5" };
        throw new Problem(503, { detail: "too many sign-ins at once", headers, cause: error });
      }
      entered.push(place);
    }
    return leave;
  }

  function leavePlace(place: string): void {
    const turn = turns.get(place);
    turn?.release();
    if (turn?.held === 0) turns.delete(place);
  }
}

/** Something that an attempt counts for. */
interface CountedKey {
  readonly key: string;
  readonly rule: AttemptRule;
}

/**
 * Counts a check as an attempt: it fails when the check returns nothing or false, and by a problem
 * of the caller.
 *
 * @param attempts - Default: nothing is counted.
 */
export async function countAttempt<T>(
  attempts: AttemptLimiter | undefined,
  by: AttemptBy,
  check: () => Promise<T>,
): Promise<T> {
  const attempt = await attempts?.begin(by);
  let outcome: "success" | "failure" | "neither" = "neither";
  try {
    const result = await check();
    outcome = result ? "success" : "failure";
    return result;
  } catch (error) {
    if (error instanceof Problem && error.status < 500) outcome = "failure";
    throw error;
  } finally {
    await attempt?.end(outcome);
  }
}

/**
 * Counts something that has a limit whatever becomes of it, such as a mail that is asked for.
 *
 * @param account - Must not look like an email: with a letter in upper case.
 * @throws Problem 429 with `Retry-After` after too many.
 */
export async function countAlways(
  attempts: AttemptLimiter | undefined,
  account: string,
): Promise<void> {
  const attempt = await attempts?.begin({ account });
  await attempt?.end("failure");
}

/** Names come from clients: each kind of key has a prefix, so none imitates another. */
function keyOf(account: string): string {
  return `account ${account}`;
}

function ofNetwork(network: string): string {
  return `accounts from ${network}`;
}

function pairOf(account: string, network: string): string {
  return `network ${network} ${account}`;
}

function checkNumber(name: string, value: number, minimum: number): void {
  const isFit = Number.isSafeInteger(value) && value >= minimum && value <= 31_536_000;
  const expected = `a whole number from ${minimum}`;
  checkConfigured(isFit, `${name} of an attempt limiter must be ${expected}, got ${value}`);
}

function tooMany(wait: number): Problem {
  return new Problem(429, {
    detail: "too many attempts; see Retry-After",
    headers: { "retry-after": String(Math.ceil(wait / 1_000)) },
  });
}

/**
 * Names the network of an address, which is what one client has for itself: an IPv4 address, or a
 * /64 of IPv6, whose owner has all addresses in it. Text that is not an address is returned as it
 * is.
 */
export function networkOf(address: string): string {
  const parsed = parseIP(address.replace(/%.*$/, ""));
  if (parsed === undefined) return address;
  if (parsed.version === 4) return formatIP(parsed);
  return `${formatIP(networkAddress(parsed, 64))}/64`;
}
