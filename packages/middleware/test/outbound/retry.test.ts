import { createContext, deriveRequest, empty, text, wrap, type Handler } from "@fetchwork/http";
import { serve } from "@fetchwork/http/serve";
import { afterEach, beforeEach, describe, expect, it, onTestFinished, vi } from "vitest";
import {
  HandlerTimeoutError,
  bearer,
  retry,
  timeout,
  type RetryMiddlewareOptions,
} from "../../src/index.ts";

const url = "http://localhost/";

/** Answers with one after another, the last forever; an error is thrown. */
function script(...answers: readonly (number | Error | (() => Response))[]): {
  readonly handler: Handler;
  readonly bodies: string[];
} {
  const bodies: string[] = [];
  const handler: Handler = async (request) => {
    bodies.push(request.body === null ? "" : await request.text());
    const answer = answers[Math.min(bodies.length, answers.length) - 1];
    if (answer instanceof Error) throw answer;
    return typeof answer === "function" ? answer() : empty(answer ?? 200);
  };
  return { handler, bodies };
}

beforeEach(() => {
  vi.useFakeTimers();
  vi.spyOn(Math, "random").mockReturnValue(0.5);
});

afterEach(() => {
  vi.useRealTimers();
  vi.restoreAllMocks();
});

/** Sends, and lets all pauses pass. */
async function send(
  handler: Handler,
  request: Request,
  options?: RetryMiddlewareOptions,
): Promise<{ outcome: unknown; waited: number }> {
  const start = Date.now();
  const outcome = Promise.resolve(wrap(handler, retry(options))(request)).catch(
    (error: unknown) => error,
  );
  await vi.runAllTimersAsync();
  return { outcome: await outcome, waited: Date.now() - start };
}

describe("retry refuses", () => {
  it.each<[string, unknown]>([
    ["negative retries", { retries: -1 }],
    ["endless retries", { retries: Infinity }],
    ["a broken delay", { baseDelay: 0.5 }],
    ["a delay that no timer can hold", { maxDelay: 2 ** 31 }],
    ["methods as text", { methods: "GET" }],
    ["one status", { statuses: 503 }],
    ["a negative replayLimit", { replayLimit: -1 }],
  ])("%s", (_case, options) => {
    expect(() => retry(options as RetryMiddlewareOptions)).toThrow(
      expect.objectContaining({ code: "ERR_MIDDLEWARE_OPTION" }),
    );
  });
});

describe("retry does not send again", () => {
  it.each<[string, RequestInit, number | Error, RetryMiddlewareOptions?]>([
    ["a POST", { method: "POST", body: "a" }, 503],
    ["a PATCH", { method: "PATCH", body: "a" }, 503],
    ["an unlisted server error", {}, 501],
    ["what was refused", {}, 404],
    ["what was aborted", {}, new DOMException("aborted", "AbortError")],
    ["a method that is not listed", {}, 503, { methods: ["PUT"] }],
    ["a status that is not listed", {}, 503, { statuses: [500] }],
    ["anything with 0 retries", {}, 503, { retries: 0 }],
    ["a body over the limit", { method: "PUT", body: "12345" }, 503, { replayLimit: 4 }],
  ])("%s", async (_case, init, answer, options) => {
    const { handler, bodies } = script(answer, 200);
    const { outcome } = await send(handler, new Request(url, init), options);
    if (answer instanceof Error) expect(outcome).toBe(answer);
    else expect(outcome).toMatchObject({ status: answer });
    expect(bodies).toEqual([init.body ?? ""]);
  });

  it("after a Retry-After that is too long", async () => {
    const { handler, bodies } = script(() => empty(503, { headers: { "retry-after": "61" } }));
    const { outcome } = await send(handler, new Request(url));
    expect([(outcome as Response).status, bodies.length]).toEqual([503, 1]);
  });
});

describe("retry sends again", () => {
  it.each<[string, RequestInit, number | Error]>([
    ...[408, 425, 429, 502, 503, 504].map((status): [string, RequestInit, number] => [
      `after ${status}`,
      {},
      status,
    ]),
    ["after the network failed", {}, new TypeError("fetch failed")],
    ["after a deadline", {}, new HandlerTimeoutError(1)],
    ["a HEAD", { method: "HEAD" }, 503],
    ["a DELETE", { method: "DELETE" }, 503],
    ["a PUT with its body", { method: "PUT", body: "body" }, 503],
    [
      "a POST with an Idempotency-Key",
      { method: "POST", body: "body", headers: { "idempotency-key": "k" } },
      503,
    ],
  ])("%s", async (_case, init, answer) => {
    const { handler, bodies } = script(answer, answer, 200);
    const { outcome } = await send(handler, new Request(url, init));
    expect((outcome as Response).status).toBe(200);
    expect(bodies).toEqual(Array.from({ length: 3 }, () => init.body ?? ""));
  });

  it("and returns the last answer, or error, as it is", async () => {
    for (const answer of [503, new TypeError("fetch failed")]) {
      const { handler, bodies } = script(answer);
      const { outcome } = await send(handler, new Request(url));
      if (answer instanceof Error) expect(outcome).toBe(answer);
      else expect((outcome as Response).status).toBe(answer);
      expect(bodies.length).toBe(3);
    }
  });

  it("after a random part of a time that doubles up to a limit", async () => {
    const { handler } = script(503);
    const options = { retries: 4, baseDelay: 100, maxDelay: 300 };
    expect((await send(handler, new Request(url), options)).waited).toBe(50 + 100 + 150 + 150);
  });

  it.each([
    ["3", 3000],
    ["Thu, 01 Jan 2026 00:00:05 GMT", 5000],
    ["Wed, 31 Dec 2025 00:00:00 GMT", 100],
    ["soon", 100],
    ["2026", 60_000],
    ["-1", 100],
  ])("after a Retry-After of %s", async (field, waited) => {
    vi.setSystemTime("2026-01-01T00:00:00Z");
    const { handler } = script(() => empty(429, { headers: { "retry-after": field } }), 200);
    const options = { maxRetryAfter: 2_026_000 };
    const result = await send(handler, new Request(url), options);
    expect(result.waited).toBe(field === "2026" ? 2_026_000 : waited);
  });

  it("and cancels the answer that it drops", async () => {
    const cancel = vi.fn();
    const { handler } = script(
      () => new Response(new ReadableStream({ cancel }), { status: 503 }),
      200,
    );
    await send(handler, new Request(url));
    expect(cancel).toHaveBeenCalledOnce();
  });

  it("what was derived, with its body", async () => {
    const { handler, bodies } = script(503, 200);
    const request = deriveRequest(new Request(url, { method: "PUT", body: "body" }), {
      headers: { a: "1" },
    });
    await send(handler, request);
    expect(bodies).toEqual(["body", "body"]);
  });
});

describe("an abort", () => {
  it("of the request or of the context ends the pause with its reason", async () => {
    for (const where of ["request", "context"] as const) {
      const controller = new AbortController();
      const { signal } = controller;
      const { handler, bodies } = script(503);
      const request = new Request(url, where === "request" ? { signal } : {});
      const context = createContext(request, where === "context" ? { signal } : {});
      const outcome = Promise.resolve(wrap(handler, retry())(request, context)).catch(
        (error: unknown) => error,
      );
      await vi.advanceTimersByTimeAsync(50);
      const reason = new Error("enough");
      controller.abort(reason);
      expect(await outcome).toBe(reason);
      expect([bodies.length, vi.getTimerCount()]).toEqual([1, 0]);
    }
  });

  it("during an attempt returns what the attempt failed with", async () => {
    const controller = new AbortController();
    const handler: Handler = async () => {
      controller.abort();
      throw new TypeError("fetch failed");
    };
    const { outcome } = await send(handler, new Request(url, { signal: controller.signal }));
    expect(outcome).toMatchObject({ message: "fetch failed" });
  });
});

it("retry wraps fetch: around timeout around bearer", async () => {
  vi.useRealTimers();
  const bodies: string[] = [];
  const server = await serve(
    async (request) => {
      bodies.push(`${request.headers.get("authorization")} ${await request.text()}`);
      if (bodies.length === 1) return empty(503);
      if (bodies.length === 2) return new Promise(() => undefined);
      return text("done");
    },
    { port: 0, hostname: "127.0.0.1", signals: false },
  );
  onTestFinished(() => server.close({ gracePeriod: 0 }));
  const api = wrap(fetch, retry({ baseDelay: 1 }), timeout(500), bearer("t"));
  const response = await api(new Request(server.url, { method: "PUT", body: "body" }));
  expect([response.status, await response.text()]).toEqual([200, "done"]);
  expect(bodies).toEqual(["Bearer t body", "Bearer t body", "Bearer t body"]);
});
