import {
  Client,
  ConnectionError,
  ProtocolError,
  TimeoutError,
  TooLargeError,
  mockTransport,
  text,
  type ClientOptions,
  type Transport,
  type TransportError,
  type TransportRequest,
} from "@fetchwork/http";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";

const baseUrl = "http://api.test/x";
const details = { method: "GET", url: baseUrl };

beforeEach(() => {
  vi.useFakeTimers();
  vi.spyOn(Math, "random").mockReturnValue(0.5);
});
afterEach(() => {
  vi.useRealTimers();
  vi.restoreAllMocks();
});

type Answer = number | readonly [status: number, retryAfter: string] | TransportError;

/** Returns the answers one after another, and notes when each request came and what it was. */
function answering(
  answers: readonly Answer[],
  options: ClientOptions = { retry: 3 },
): { readonly client: Client; readonly at: number[]; readonly requests: TransportRequest[] } {
  const startedAt = Date.now();
  const at: number[] = [];
  const requests: TransportRequest[] = [];
  const take = (request: TransportRequest): Transport => {
    at.push(Date.now() - startedAt);
    requests.push(request);
    const answer = answers[at.length - 1] ?? 200;
    return mockTransport(() => {
      if (answer instanceof Error) throw answer;
      const [status, retryAfter] = typeof answer === "number" ? [answer, undefined] : answer;
      return text(`attempt ${at.length}`, {
        status,
        headers: retryAfter === undefined ? {} : { "retry-after": retryAfter },
      });
    });
  };
  const transport: Transport = {
    exchange: (request) => take(request).exchange(request),
    stream: (request) => take(request).stream(request),
    close: async () => undefined,
  };
  return { client: new Client({ transport, ...options }), at, requests };
}

async function settle<T>(promise: Promise<T>): Promise<T | Error> {
  let isSettled = false;
  const result = promise
    .catch((error: unknown) => error as Error)
    .finally(() => (isSettled = true));
  // Not all timers: what is loaded in the meantime may have one that never ends.
  while (!isSettled) await vi.advanceTimersToNextTimerAsync();
  return result;
}

describe("is not sent again", () => {
  it("unless the caller asks for it", async () => {
    const { client, at } = answering([503], {});
    expect(await settle(client.send({ baseUrl }))).toMatchObject({ statusCode: 503 });
    expect(at).toHaveLength(1);
  });

  it.each([
    ["POST", { method: "POST", baseUrl, body: { a: 1 } }],
    ["PATCH", { method: "PATCH", baseUrl, body: { a: 1 } }],
    ["a stream", { method: "PUT", baseUrl, body: new Blob(["x"]).stream() }],
    [
      "an iterable",
      {
        method: "PUT",
        baseUrl,
        body: (async function* () {
          yield "x";
        })(),
      },
    ],
  ])("%s", async (_, request) => {
    const { client, at } = answering([503]);
    expect(await settle(client.send(request))).toMatchObject({ statusCode: 503 });
    expect(at).toHaveLength(1);
  });

  it.each([200, 400, 401, 404, 409, 413, 422, 501])("after %i", async (status) => {
    const { client, at } = answering([status]);
    expect(await settle(client.send({ baseUrl }))).toMatchObject({ statusCode: status });
    expect(at).toHaveLength(1);
  });

  it.each([
    new TimeoutError("total", 1, details),
    new TooLargeError("body", 1, details),
    new ConnectionError("tls", "bad certificate", details),
  ])("after $code ($message)", async (error) => {
    const { client, at } = answering([error]);
    expect(await settle(client.send({ baseUrl }))).toBe(error);
    expect(at).toHaveLength(1);
  });

  it("after the last repetition, whose answer is given as it is", async () => {
    const { client, at } = answering([503, 503, 503], { retry: 2 });
    expect(await settle(client.send({ baseUrl }))).toMatchObject({
      statusCode: 503,
      body: "attempt 3",
    });
    expect(at).toHaveLength(3);
  });

  it.each([["61"], ["Fri, 01 Jan 2100 00:00:00 GMT"]])(
    "when Retry-After %s is longer than the caller waits",
    async (retryAfter) => {
      const { client, at } = answering([[503, retryAfter]]);
      expect(await settle(client.send({ baseUrl }))).toMatchObject({ statusCode: 503 });
      expect(at).toHaveLength(1);
    },
  );

  it("when the pause is longer than the total time that is left", async () => {
    const { client, at } = answering([[503, "2"]], { retry: 3, timeout: 1000 });
    expect(await settle(client.send({ baseUrl }))).toMatchObject({ statusCode: 503 });
    expect(at).toEqual([0]);
  });
});

describe("is sent again", () => {
  it.each([408, 425, 429, 500, 502, 503, 504])("after %i", async (status) => {
    const { client, at } = answering([status]);
    expect(await settle(client.send({ baseUrl }))).toMatchObject({ statusCode: 200 });
    expect(at).toHaveLength(2);
  });

  it.each([
    new TimeoutError("connect", 1, details),
    new TimeoutError("headers", 1, details),
    new TimeoutError("body", 1, details),
    new ConnectionError("refused", "refused", details),
    new ConnectionError("reset", "reset", details),
    new ConnectionError("dns", "dns", details),
    new ProtocolError("truncated", details),
  ])("after $code ($message)", async (error) => {
    const { client } = answering([error, error]);
    expect(await settle(client.send({ baseUrl }))).toMatchObject({
      statusCode: 200,
      body: "attempt 3",
    });
  });

  it.each([
    ["PUT", {}],
    ["DELETE", {}],
    ["POST", { "Idempotency-Key": "k" }],
  ])("with its body, by %s with %j", async (method, headers) => {
    const { client, requests } = answering([503]);
    await settle(client.send({ method, baseUrl, headers, body: { a: 1 } }));
    expect(requests.map(({ body }) => body)).toEqual(['{"a":1}', '{"a":1}']);
  });

  it("with a fresh stream of a blob", async () => {
    const { client, requests } = answering([503]);
    await settle(client.send({ method: "PUT", baseUrl, body: new Blob(["abc"]) }));
    expect(requests).toHaveLength(2);
    expect(requests[0]?.body).not.toBe(requests[1]?.body);
    expect(requests[1]?.headers.slice(-2)).toEqual(["content-length", "3"]);
  });

  it("after pauses that are a random part of a time that doubles, up to a limit", async () => {
    const { client, at } = answering([500, 500, 500, 500, 500], {
      retry: { retries: 5, baseDelay: 100, maxDelay: 400 },
    });
    await settle(client.send({ baseUrl }));
    expect(at).toEqual([0, 50, 150, 350, 550, 750]);
  });

  it.each([
    ["2", 2000],
    ["0", 100],
    ["nonsense", 100],
  ])("after at least what Retry-After %s asks for", async (retryAfter, expected) => {
    const { client, at } = answering([[429, retryAfter]]);
    await settle(client.send({ baseUrl }));
    expect(at).toEqual([0, expected]);
  });

  it("after 413 with a Retry-After", async () => {
    const { client, at } = answering([[413, "1"]]);
    await settle(client.send({ baseUrl }));
    expect(at).toEqual([0, 1000]);
  });

  it("as a stream, letting go of the body of the first", async () => {
    let cancelled = 0;
    let requests = 0;
    const body = new ReadableStream({ cancel: () => void (cancelled += 1) });
    const transport = mockTransport(() =>
      (requests += 1) === 1 ? new Response(body, { status: 503 }) : text("good"),
    );
    const result = await settle(new Client({ transport, retry: 1 }).stream({ baseUrl }));
    expect(result).toMatchObject({ statusCode: 200 });
    expect(cancelled).toBe(1);
  });
});

describe("shouldRetry", () => {
  it("may refuse what the rules allow", async () => {
    const { client, at } = answering([503], { retry: { shouldRetry: () => false } });
    await settle(client.send({ baseUrl }));
    expect(at).toHaveLength(1);
  });

  it("may allow what the rules refuse, and sees the failure", async () => {
    const seen: unknown[] = [];
    const { client } = answering([401, new ConnectionError("tls", "t", details)], {
      retry: {
        retries: 5,
        shouldRetry: async ({ attempt, response, error, method }) => {
          seen.push([attempt, method, response?.statusCode, (error as Error | undefined)?.name]);
          return response?.statusCode === 401 || error !== undefined;
        },
      },
    });
    await settle(client.send({ method: "POST", baseUrl, body: "x" }));
    expect(seen).toEqual([
      [1, "POST", 401, undefined],
      [2, "POST", undefined, "ConnectionError"],
      [3, "POST", 200, undefined],
    ]);
  });

  it("leaves it to the rules with undefined", async () => {
    const { client, at } = answering([503, 404], { retry: { shouldRetry: () => undefined } });
    expect(await settle(client.send({ baseUrl }))).toMatchObject({ statusCode: 404 });
    expect(at).toHaveLength(2);
  });
});

describe("an abort", () => {
  it("ends the pause at once, and leaves no timer", async () => {
    const controller = new AbortController();
    const { client, at } = answering([[503, "30"]]);
    const promise = client
      .send({ baseUrl }, { signal: controller.signal })
      .catch((error: unknown) => error);
    await vi.advanceTimersByTimeAsync(1000);
    controller.abort("enough");
    expect(await promise).toMatchObject({ name: "AbortError", cause: "enough" });
    expect(at).toHaveLength(1);
    expect(vi.getTimerCount()).toBe(0);
  });
});
