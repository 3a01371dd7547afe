import { describe, expect, it } from "vitest";
import * as middleware from "../src/index.ts";
import * as node from "../src/node/index.ts";

const check = { name: "a", check: () => undefined };

type Make = (value: never) => unknown;

/** Every option and argument that is a number, and its wrong values. */
const numbers: [string, readonly unknown[], Make][] = [
  [
    "benchmarks timeRange",
    [-1, 0, 999, 86_400_001],
    (timeRange) => middleware.benchmarks({ timeRange }),
  ],
  ["blackWords limit", [-1, 0.5], (limit) => middleware.blackWords(["a"], { limit })],
  ["blackWordsFn limit", [-1, 0.5], (limit) => middleware.blackWordsFn(() => [], { limit })],
  ["cacheControl maxAge", [-1, Infinity], (maxAge) => middleware.cacheControl(maxAge, "v")],
  [
    "cacheControlDynamic maxAge",
    [-1, Infinity],
    (maxAge) => middleware.cacheControlDynamic(maxAge, () => "v"),
  ],
  ["compress threshold", [-1, 0.5], (threshold) => middleware.compress({ threshold })],
  ["cors maxAge", [-1, 0.5, Infinity], (maxAge) => middleware.cors({ maxAge })],
  ["health timeout", [-1, 0], (timeout) => middleware.health({ timeout })],
  [
    "health timeout of a check",
    [-1, 0],
    (timeout) => middleware.health({ checks: [{ ...check, timeout }] }),
  ],
  ["idempotency keepFor", [-1, 0, Infinity], (keepFor) => middleware.idempotency({ keepFor })],
  ["idempotency lockFor", [-1, 0, Infinity], (lockFor) => middleware.idempotency({ lockFor })],
  [
    "idempotency maxRequestBytes",
    [-1, 0.5],
    (maxRequestBytes) => middleware.idempotency({ maxRequestBytes }),
  ],
  [
    "idempotency maxResponseBytes",
    [-1, 0.5],
    (maxResponseBytes) => middleware.idempotency({ maxResponseBytes }),
  ],
  ["logger body.maxSize", [-1, 0.5], (maxSize) => middleware.logger({ body: { maxSize } })],
  [
    "memoryIdempotencyStore maxKeys",
    [-1, 0, 0.5],
    (maxKeys) => middleware.memoryIdempotencyStore({ maxKeys }),
  ],
  [
    "memoryIdempotencyStore maxBytes",
    [-1, 0.5],
    (maxBytes) => middleware.memoryIdempotencyStore({ maxBytes }),
  ],
  [
    "memoryRateLimitStore maxKeys",
    [-1, 0, 0.5],
    (maxKeys) => middleware.memoryRateLimitStore({ maxKeys }),
  ],
  [
    "profiler maxSeconds",
    [-1, 0, 3601, 1.5, Infinity],
    (maxSeconds) => node.profiler({ maxSeconds }),
  ],
  [
    "rateLimit limit",
    [-1, 0, 0.5, Infinity, undefined],
    (limit) => middleware.rateLimit({ limit }),
  ],
  [
    "rateLimit window",
    [-1, 0, 0.5, Infinity],
    (window) => middleware.rateLimit({ limit: 1, window }),
  ],
  [
    "reject status",
    [-1, 0, 199, 204, 600, undefined],
    (status) => middleware.reject(status, "a", () => true),
  ],
  ["retry retries", [-1, 0.5, Infinity], (retries) => middleware.retry({ retries })],
  ["retry baseDelay", [-1, 0.5, Infinity], (baseDelay) => middleware.retry({ baseDelay })],
  ["retry maxDelay", [-1, 0.5, Infinity], (maxDelay) => middleware.retry({ maxDelay })],
  [
    "retry maxRetryAfter",
    [-1, 0.5, Infinity],
    (maxRetryAfter) => middleware.retry({ maxRetryAfter }),
  ],
  ["retry replayLimit", [-1, 0.5], (replayLimit) => middleware.retry({ replayLimit })],
  ["secure hsts.maxAge", [-1, 0.5, Infinity], (maxAge) => middleware.secure({ hsts: { maxAge } })],
  ["sizeLimit bytes", [-1, 0.5, undefined], (bytes) => middleware.sizeLimit(bytes)],
  ["throttle limit", [-1, 0, 0.5, undefined], (limit) => middleware.throttle(limit)],
  ["throttle backlog", [-1, 0.5], (backlog) => middleware.throttle(1, { backlog })],
  [
    "throttle timeout",
    [-1, 0.5, Infinity, 2 ** 31],
    (timeout) => middleware.throttle(1, { timeout }),
  ],
  ["throttle status", [200, 600, 400.5], (status) => middleware.throttle(1, { status })],
  [
    "throttle retryAfter",
    [-1, 0.5, Infinity],
    (retryAfter) => middleware.throttle(1, { retryAfter }),
  ],
  // 0 and less switch it off, as the specification says.
  [
    "timeout milliseconds",
    [Infinity, 2 ** 31, undefined],
    (milliseconds) => middleware.timeout(milliseconds),
  ],
];

describe("numbers", () => {
  it.each(numbers)(
    "%s is refused when it is %j, NaN, null, a text or a list",
    (_name, wrong, make) => {
      for (const value of [...wrong, Number.NaN, null, "1", [], {}]) {
        expect([value, codeOf(() => make(value as never))]).toEqual([
          value,
          "ERR_MIDDLEWARE_OPTION",
        ]);
      }
    },
  );

  it.each([[200.5], ["503"], [99], [600], [null], "503"])(
    "retry() refuses the statuses %j",
    (statuses) => {
      expect(codeOf(() => middleware.retry({ statuses: statuses as number[] }))).toBe(
        "ERR_MIDDLEWARE_OPTION",
      );
    },
  );

  it.each([-1, 0, -Infinity])("timeout(%d) is off, as the specification says", (milliseconds) => {
    const next = (): Response => new Response();
    expect(middleware.timeout(milliseconds)(next)).toBe(next);
  });
});

function codeOf(make: () => unknown): unknown {
  try {
    make();
    return "accepted";
  } catch (error) {
    return error instanceof middleware.MiddlewareError ? error.code : error;
  }
}
