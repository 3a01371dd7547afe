import { createServer } from "node:http";
import { describe, expect, it, vi } from "vitest";
import { createContext, runHandler, wrap, type Handler } from "../../../src/index.ts";
import { serve, toNodeListener } from "../../../src/node/index.ts";

const cyclic = new Error("round");
cyclic.cause = cyclic;
const longChain = Array.from({ length: 100_000 }).reduce<Error>(
  (cause) => new Error("link", { cause }),
  new Error("end"),
);
const opaque = new Proxy(new Error("x"), {
  get: () => {
    throw new Error("not to be looked at");
  },
  has: () => {
    throw new Error("not to be looked at");
  },
});

it.each<[string, unknown]>([
  ["an error that causes itself", cyclic],
  ["a chain of 100,000 causes", longChain],
  ["an error that throws when it is looked at", opaque],
  ["null", null],
])("serve() responds with 500 to %s, reports it and goes on", async (_case, error) => {
  const reportError = vi.fn();
  const handler = (): never => {
    throw error;
  };
  const options = {
    port: 0,
    hostname: "127.0.0.1",
    signals: false,
    gracePeriod: 0,
    reportError,
  } as const;
  await using server = await serve(handler, options);
  for (let count = 1; count <= 2; count += 1) {
    expect((await fetch(server.url)).status).toBe(500);
    expect(reportError).toHaveBeenCalledTimes(count);
  }
});

describe("an error with a status and expose: true", () => {
  const exposed = (status: number): Error =>
    Object.assign(new Error("try again"), {
      status,
      expose: true,
      code: "ERR_OURS",
      headers: { "retry-after": "5" },
    });
  const loopback = { port: 0, hostname: "127.0.0.1", signals: false, gracePeriod: 0 } as const;

  it.each<[string, Handler]>([
    [
      "a handler throws",
      () => {
        throw exposed(409);
      },
    ],
    ["a handler rejects with", () => Promise.reject(exposed(409))],
    [
      "a body fails before the head with",
      () => new Response(new ReadableStream({ pull: () => Promise.reject(exposed(409)) })),
    ],
  ])("is the response that serve() sends when %s it, and is not reported", async (_, handler) => {
    const reportError = vi.fn();
    await using server = await serve(handler, { ...loopback, reportError });
    const response = await fetch(server.url);
    expect(response.status).toBe(409);
    expect(response.headers.get("content-type")).toBe("application/json");
    expect(response.headers.get("retry-after")).toBe("5");
    expect(await response.json()).toEqual({ error: "try again", code: "ERR_OURS" });
    expect(reportError).not.toHaveBeenCalled();
  });

  it("has no body in the response of serve() to HEAD", async () => {
    await using server = await serve(() => Promise.reject(exposed(409)), loopback);
    const response = await fetch(server.url, { method: "HEAD" });
    expect(response.status).toBe(409);
    expect(await response.text()).toBe("");
  });

  it("is reported by serve() when its status is 500 or more, by default without its stack", async () => {
    const logged = vi.spyOn(console, "error").mockImplementation(() => undefined);
    const reportError = vi.fn();
    const error = exposed(503);
    {
      await using server = await serve(() => Promise.reject(error), loopback);
      expect((await fetch(server.url)).status).toBe(503);
      await using other = await serve(() => Promise.reject(error), { ...loopback, reportError });
      expect((await fetch(other.url)).status).toBe(503);
    }
    expect(logged.mock.calls).toEqual([["Error: try again"]]);
    expect(reportError.mock.calls).toEqual([[error]]);
    logged.mockRestore();
  });

  it("is the response of toNodeListener()", async () => {
    const server = createServer(toNodeListener(() => Promise.reject(exposed(409))));
    await new Promise<void>((resolve) => void server.listen(0, "127.0.0.1", resolve));
    const address = server.address();
    const port = typeof address === "object" && address !== null ? address.port : 0;
    const response = await fetch(`http://127.0.0.1:${port}/`);
    expect(response.status).toBe(409);
    expect(await response.json()).toEqual({ error: "try again", code: "ERR_OURS" });
    server.close();
  });

  it("is the response of runHandler(), and ends the exchange with its status", async () => {
    const request = new Request("http://localhost/");
    const ends: number[] = [];
    const throwing = wrap((_, context) => {
      context.onFinish(({ status }) => void ends.push(status));
      throw exposed(409);
    });
    const response = await runHandler(throwing, request);
    expect(response.status).toBe(409);
    await response.text();
    expect(ends).toEqual([409]);
    const rejected = await runHandler(() => Promise.reject(exposed(410)), request);
    expect(rejected.status).toBe(410);
  });

  it("stays a rejection where a wrapped handler is called as a function", async () => {
    const request = new Request("http://localhost/");
    const rejecting = wrap(() => Promise.reject(exposed(409)));
    await expect(rejecting(request)).rejects.toThrow("try again");
    await expect(rejecting(request, createContext(request))).rejects.toThrow("try again");
  });

  it("is a 500 of serve() when only its status says so, as errors of clients do", async () => {
    const reportError = vi.fn();
    const error = Object.assign(new Error("not found upstream"), { status: 404 });
    await using server = await serve(() => Promise.reject(error), { ...loopback, reportError });
    expect((await fetch(server.url)).status).toBe(500);
    expect(reportError.mock.calls).toEqual([[error]]);
  });
});

it.each<[string, Handler]>([
  ["new Request()", (request) => new Response(new Request(request).url)],
  ["fetch()", (request) => fetch(request)],
])(
  "the report of serve() names nativeRequest() when a received request is passed to %s",
  async (_, handler) => {
    const reportError = vi.fn();
    const options = {
      port: 0,
      hostname: "127.0.0.1",
      signals: false,
      gracePeriod: 0,
      reportError,
    } as const;
    await using server = await serve(handler, options);
    expect((await fetch(server.url)).status).toBe(500);
    expect(reportError).toHaveBeenCalledWith(
      expect.objectContaining({
        code: "ERR_HTTP_NATIVE_REQUEST",
        message: expect.stringContaining("nativeRequest(request)"),
        cause: expect.any(TypeError),
      }),
    );
  },
);
