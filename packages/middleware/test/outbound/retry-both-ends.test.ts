import { Client, mockTransport, text, wrap, type RetryOptions } from "@fetchwork/http";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { retry } from "../../src/outbound/retry.ts";

interface Case {
  readonly method?: string;
  readonly status: number;
  readonly headers?: Readonly<Record<string, string>>;
  readonly sentHeaders?: Readonly<Record<string, string>>;
  readonly options?: RetryOptions;
}

/**
 * One table of rules for `Client({ retry })` and `retry()`: how often a request is sent, and how
 * long it waits.
 */
const cases: readonly (readonly [name: string, given: Case, sent: number, waited: number])[] = [
  ["a success", { status: 200 }, 1, 0],
  ["a rejected request", { status: 400 }, 1, 0],
  ["a request timeout", { status: 408 }, 3, 300],
  ["a too early request", { status: 425 }, 3, 300],
  ["a server error", { status: 500 }, 3, 300],
  ["an unsupported method", { status: 501 }, 1, 0],
  ["a bad gateway", { status: 502 }, 3, 300],
  ["an unavailable service", { status: 503 }, 3, 300],
  ["a gateway timeout", { status: 504 }, 3, 300],
  ["a body that is too large", { status: 413 }, 1, 0],
  ["a body that is too large for now", { status: 413, headers: { "retry-after": "1" } }, 3, 2000],
  ["Retry-After", { status: 503, headers: { "retry-after": "2" } }, 3, 4000],
  ["RateLimit-Reset", { status: 429, headers: { "ratelimit-reset": "3" } }, 3, 6000],
  [
    "X-RateLimit-Reset of a server error",
    { status: 500, headers: { "x-ratelimit-reset": "9" } },
    3,
    300,
  ],
  ["a delay above maxRetryAfter", { status: 503, headers: { "retry-after": "61" } }, 1, 0],
  ["a PUT", { method: "PUT", status: 503 }, 3, 300],
  ["a POST", { method: "POST", status: 503 }, 1, 0],
  [
    "a POST with a key",
    { method: "POST", status: 503, sentHeaders: { "Idempotency-Key": "k" } },
    3,
    300,
  ],
  [
    "a method of the options",
    { method: "POST", status: 503, options: { methods: ["post"] } },
    3,
    300,
  ],
  ["a status of the options", { status: 404, options: { statuses: [404] } }, 3, 300],
  ["a status missing from the options", { status: 503, options: { statuses: [404] } }, 1, 0],
  ["no retries", { status: 503, options: { retries: 0 } }, 1, 0],
  ["a longer delay", { status: 503, options: { baseDelay: 1000, maxDelay: 1500 } }, 3, 1250],
  [
    "a decision to retry",
    { method: "POST", status: 404, options: { shouldRetry: () => true } },
    3,
    300,
  ],
  ["a decision not to retry", { status: 503, options: { shouldRetry: () => false } }, 1, 0],
];

beforeEach(() => {
  vi.useFakeTimers();
  vi.spyOn(Math, "random").mockReturnValue(0.5);
});

afterEach(() => {
  vi.useRealTimers();
  vi.restoreAllMocks();
});

/**
 * Runs a case with one of the two ends, and returns how often it sent and how many milliseconds it
 * took.
 */
async function run(send: () => Promise<unknown>, count: () => number): Promise<readonly number[]> {
  const startedAt = Date.now();
  const done = send();
  await vi.runAllTimersAsync();
  await done;
  return [count(), Date.now() - startedAt];
}

describe.each(cases)(
  "%s",
  (_name, { method = "GET", status, headers, sentHeaders, options = {} }, sent, waited) => {
    it("is retried by the Client's rules", async () => {
      let count = 0;
      const client = new Client({
        transport: mockTransport(() => {
          count += 1;
          return text("", { status, headers: { ...headers } });
        }),
        retry: options,
      });
      const request = { method, baseUrl: "http://api.test/", headers: { ...sentHeaders } };
      expect(
        await run(
          () => client.send(request),
          () => count,
        ),
      ).toEqual([sent, waited]);
    });

    it("is retried by the same rules around a handler", async () => {
      let count = 0;
      const handler = wrap(() => {
        count += 1;
        return text("", { status, headers: { ...headers } });
      }, retry(options));
      const request = new Request("http://api.test/", { method, headers: { ...sentHeaders } });
      expect(
        await run(
          async () => handler(request),
          () => count,
        ),
      ).toEqual([sent, waited]);
    });
  },
);
