import { Client, json, mockTransport, type ClientOptions, type Handler } from "@fetchwork/http";
import { describe, expect, it } from "vitest";

const baseUrl = "http://api.test/x";

function clientOf(handler: Handler, options: ClientOptions): Client {
  return new Client({ transport: mockTransport(handler), ...options });
}

describe("hooks", () => {
  it("beforeRequest may change headers, which fall under the rules for redirects", async () => {
    const seen: (string | null)[] = [];
    const client = clientOf(
      (request) => {
        seen.push(request.headers.get("authorization"), request.headers.get("x-b"));
        return request.url === baseUrl
          ? new Response(null, { status: 302, headers: { location: "http://other.test/" } })
          : json({});
      },
      {
        hooks: {
          beforeRequest: [
            async ({ headers, url, method, body, attempt }) => {
              expect([url, method, body, attempt]).toEqual([baseUrl, "POST", "body", 1]);
              headers.set("authorization", "Bearer t");
            },
            ({ headers }) =>
              headers.set("x-b", headers.get("authorization") === null ? "no" : "yes"),
          ],
        },
      },
    );
    await client.send({ method: "POST", baseUrl, body: "body" });
    expect(seen).toEqual(["Bearer t", "yes", null, "yes"]);
  });

  it("beforeRetry may renew a token, and knows why and when", async () => {
    const tokens: (string | null)[] = [];
    const reasons: unknown[] = [];
    const client = clientOf(
      ({ headers }) => {
        tokens.push(headers.get("authorization"));
        return json({}, { status: headers.get("authorization") === "new" ? 200 : 401 });
      },
      {
        headers: { authorization: "old" },
        retry: { baseDelay: 0, shouldRetry: ({ response }) => response?.statusCode === 401 },
        hooks: {
          beforeRetry: ({ headers, attempt }, { response, error, delay }) => {
            reasons.push([attempt, response?.statusCode, error, delay]);
            headers.set("authorization", "new");
          },
        },
      },
    );
    expect((await client.send({ baseUrl })).statusCode).toBe(200);
    expect(tokens).toEqual(["old", "new"]);
    expect(reasons).toEqual([[2, 401, undefined, 0]]);
  });

  it("beforeRedirect sees the next request, and may stop it", async () => {
    let requests = 0;
    const client = clientOf(
      () => {
        requests += 1;
        return new Response(null, { status: 302, headers: { location: "http://10.0.0.1/" } });
      },
      {
        hooks: {
          beforeRedirect: ({ url }, { statusCode }) => {
            throw new RangeError(`${statusCode} ${url}`);
          },
        },
      },
    );
    await expect(client.send({ baseUrl })).rejects.toThrow(new RangeError("302 http://10.0.0.1/"));
    expect(requests).toBe(1);
  });

  it("afterResponse sees every response", async () => {
    const seen: unknown[] = [];
    let requests = 0;
    const client = clientOf(
      () => {
        requests += 1;
        if (requests === 1) return json({}, { status: 503 });
        if (requests === 2)
          return new Response(null, { status: 302, headers: { location: "/end" } });
        return json({});
      },
      {
        retry: { baseDelay: 0 },
        hooks: {
          afterResponse: ({ statusCode }, { url, attempt }) =>
            void seen.push([statusCode, url, attempt]),
        },
      },
    );
    await client.send({ baseUrl });
    expect(seen).toEqual([
      [503, baseUrl, 1],
      [302, baseUrl, 2],
      [200, "http://api.test/end", 2],
    ]);
  });

  it("afterResponse that throws ends the request, and lets go of a stream", async () => {
    let cancelled = 0;
    const client = clientOf(
      () => new Response(new ReadableStream({ cancel: () => void (cancelled += 1) })),
      {
        hooks: {
          afterResponse: () => {
            throw new RangeError("no");
          },
        },
      },
    );
    await expect(client.stream({ baseUrl })).rejects.toThrow(RangeError);
    expect(cancelled).toBe(1);
  });

  it("onError sees the last error once, and may replace it", async () => {
    const seen: unknown[] = [];
    const client = clientOf(
      () => {
        throw new Error("down");
      },
      {
        retry: { retries: 2, baseDelay: 0 },
        hooks: {
          onError: [
            (error, { attempt }) => void seen.push([(error as Error).name, attempt]),
            (error) => new RangeError("mine", { cause: error }),
          ],
        },
      },
    );
    await expect(client.send({ baseUrl })).rejects.toThrow(new RangeError("mine"));
    expect(seen).toEqual([["ConnectionError", 3]]);
  });
});
