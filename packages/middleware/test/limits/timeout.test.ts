import {
  createContext,
  createContextKey,
  json,
  text,
  wrap,
  type Context,
  type Handler,
} from "@fetchwork/http";
import { serve } from "@fetchwork/http/serve";
import { afterEach, beforeEach, describe, expect, it, onTestFinished, vi } from "vitest";
import {
  HandlerTimeoutError,
  headers,
  recoverer,
  timeout,
  type TimeoutOptions,
} from "../../src/index.ts";

const request = (): Request => new Request("http://localhost/");
const never = (): Promise<Response> => new Promise(() => undefined);
/** What a promise rejects with; taken at once, so that nobody calls it unhandled. */
const failureOf = (promise: unknown): Promise<unknown> =>
  Promise.resolve(promise).then(
    () => "did not fail",
    (error: unknown) => error,
  );
const bytes = (value: string): Uint8Array<ArrayBuffer> => new TextEncoder().encode(value);

/** A handler's stream, driven by the test. */
function openStream(): {
  readonly handler: Handler;
  readonly writer: WritableStreamDefaultWriter<Uint8Array>;
} {
  const { readable, writable } = new TransformStream<Uint8Array, Uint8Array<ArrayBuffer>>();
  const writer = writable.getWriter();
  writer.closed.catch(() => undefined);
  return { handler: () => new Response(readable), writer };
}

beforeEach(() => {
  vi.useFakeTimers();
});

afterEach(() => {
  const timers = vi.getTimerCount();
  vi.useRealTimers();
  if (timers > 0) throw new Error(`${timers} timers are left`);
});

describe("timeout refuses", () => {
  it.each<[string, unknown, unknown?]>([
    ["NaN", Number.NaN],
    ["text", "1"],
    ["what no timer can hold", 2 ** 31],
    ["an unknown mode", 1, { mode: "body" }],
    ["a response that is not a function", 1, { respond: 504 }],
  ])("%s", (_case, milliseconds, options) => {
    expect(() => timeout(milliseconds as number, options as TimeoutOptions)).toThrow(
      expect.objectContaining({ name: "MiddlewareError", code: "ERR_MIDDLEWARE_OPTION" }),
    );
  });
});

describe("A11: timeout", () => {
  it("returns a handler's response in time: status, headers, body", async () => {
    const handlers: Handler[] = [
      () => json({ a: 1 }, { status: 201, headers: { "x-a": "1" } }),
      async () => json({ a: 1 }, { status: 201, headers: { "x-a": "1" } }),
      async () => Response.json({ a: 1 }, { status: 201, headers: { "x-a": "1" } }),
    ];
    for (const handler of handlers) {
      const response = await wrap(handler, timeout(1000))(request());
      expect([response.status, response.headers.get("x-a"), await response.json()]).toEqual([
        201,
        "1",
        { a: 1 },
      ]);
    }
  });

  it.each([
    ["an object", {}],
    ["nothing", undefined],
  ])("passes %s on in the place of a response, for the server to report", async (_what, value) => {
    const handler = (async () => value) as unknown as Handler;
    const incoming = request();
    const result = timeout(1000)(handler)(incoming, createContext(incoming));
    await expect(result).resolves.toBe(value);
  });

  it("responds at once when the handler does, and starts no timer", () => {
    const incoming = request();
    const result = timeout(1000)(() => text("x"))(incoming, createContext(incoming));
    expect(result).toBeInstanceOf(Response);
    expect(vi.getTimerCount()).toBe(0);
  });

  it("signals the deadline to the handler, with a HandlerTimeoutError", async () => {
    let seen: AbortSignal | undefined;
    const answered = wrap(async (_request, { signal }) => {
      seen = signal;
      return never();
    }, timeout(1000))(request());
    await vi.advanceTimersByTimeAsync(999);
    expect(seen?.aborted).toBe(false);
    await vi.advanceTimersByTimeAsync(1);
    expect((await answered).status).toBe(504);
    expect(seen?.reason).toBeInstanceOf(HandlerTimeoutError);
    expect(seen?.reason).toMatchObject({
      name: "TimeoutError",
      code: "ERR_MIDDLEWARE_TIMEOUT",
      milliseconds: 1000,
    });
  });

  it.each([0, -1, -Infinity])("is off at %s", (milliseconds) => {
    const handler = (): Response => text("x");
    expect(timeout(milliseconds)(handler)).toBe(handler);
  });

  it("responds with an empty 504 at the deadline when the handler ignores it, and drops its output", async () => {
    const { handler, writer } = openStream();
    const answered = wrap(handler, timeout(1000))(request());
    void writer.write(bytes("partial"));
    await vi.advanceTimersByTimeAsync(1000);
    const response = await answered;
    expect([response.status, await response.text(), [...response.headers]]).toEqual([504, "", []]);
    // A late write fails with the error of the deadline.
    await expect(writer.write(bytes("late"))).rejects.toBeInstanceOf(HandlerTimeoutError);
  });

  it("responds with 504 when the handler obeys the signal, and reports nothing", async () => {
    const reportError = vi.fn();
    const incoming = request();
    const context = createContext(incoming, { reportError });
    const handler: Handler = (_request, { signal }) =>
      new Promise((_resolve, reject) => {
        signal.addEventListener("abort", () => reject(signal.reason as Error));
      });
    const answered = wrap(handler, timeout(1000))(incoming, context);
    await vi.advanceTimersByTimeAsync(1000);
    expect((await answered).status).toBe(504);
    expect(reportError).not.toHaveBeenCalled();
  });

  it("cancels a response that comes too late, with the error of the deadline", async () => {
    const cancel = vi.fn();
    const { promise: late, resolve } = Promise.withResolvers<Response>();
    const answered = wrap(() => late, timeout(1000))(request());
    await vi.advanceTimersByTimeAsync(1000);
    expect((await answered).status).toBe(504);
    resolve(new Response(new ReadableStream({ cancel })));
    await vi.advanceTimersByTimeAsync(0);
    expect(cancel).toHaveBeenCalledExactlyOnceWith(expect.any(HandlerTimeoutError));
  });

  it("reports what the handler throws too late", async () => {
    const reportError = vi.fn();
    const incoming = request();
    const { promise: late, reject } = Promise.withResolvers<Response>();
    const answered = wrap(() => late, timeout(1000))(
      incoming,
      createContext(incoming, { reportError }),
    );
    await vi.advanceTimersByTimeAsync(1000);
    await answered;
    reject(new Error("late"));
    await vi.advanceTimersByTimeAsync(0);
    expect(reportError).toHaveBeenCalledExactlyOnceWith(
      expect.objectContaining({ message: "late" }),
    );
  });

  it("lets an error of the handler reach the recoverer outside", async () => {
    const fails: Handler[] = [
      () => {
        throw new Error("sync");
      },
      async () => Promise.reject(new Error("async")),
    ];
    for (const handler of fails) {
      const response = await wrap(
        handler,
        recoverer({ log: () => undefined }),
        timeout(1000),
      )(request());
      expect(response.status).toBe(500);
    }
  });

  it("sends no 504 when the client has left, and late writes fail with its reason", async () => {
    const client = new AbortController();
    const incoming = request();
    const { handler, writer } = openStream();
    let seen: AbortSignal | undefined;
    const answered = wrap((given, context) => {
      seen = context.signal;
      return handler(given, context);
    }, timeout(1000))(incoming, createContext(incoming, { signal: client.signal }));
    const gone = new Error("gone");
    client.abort(gone);
    await expect(answered).rejects.toBe(gone);
    expect(seen?.reason).toBe(gone);
    await expect(writer.write(bytes("late"))).rejects.toBe(gone);
  });

  it("fails with the client's reason when the client left before the deadline and the handler ignores both", async () => {
    const client = new AbortController();
    const incoming = request();
    const answered = wrap(never, timeout(1000))(
      incoming,
      createContext(incoming, { signal: client.signal }),
    );
    const failed = failureOf(answered);
    client.abort(new Error("gone"));
    await vi.advanceTimersByTimeAsync(1000);
    expect(await failed).toMatchObject({ message: "gone" });
  });
});

describe("the body", () => {
  it("is held back until it is complete, and then has a length", async () => {
    const { handler, writer } = openStream();
    let isAnswered = false;
    const answered = Promise.resolve(wrap(handler, timeout(1000))(request()));
    void answered.then(() => {
      isAnswered = true;
    });
    void writer.write(bytes("a"));
    await vi.advanceTimersByTimeAsync(500);
    expect(isAnswered).toBe(false);
    void writer.write(bytes("b"));
    void writer.close();
    expect(await (await answered).text()).toBe("ab");
  });

  it("fails the request when it fails", async () => {
    const { handler, writer } = openStream();
    const answered = wrap(handler, timeout(1000))(request());
    const failed = failureOf(answered);
    void writer.abort(new Error("broken"));
    expect(await failed).toMatchObject({ message: "broken" });
  });

  it("is streamed when it is longer than the limit, and aborted at the deadline", async () => {
    const { handler, writer } = openStream();
    const answered = wrap(handler, timeout(1000))(request());
    void writer.write(new Uint8Array(1_048_576));
    void writer.write(bytes("cd"));
    const reader = (await answered).body?.getReader();
    expect((await reader?.read())?.value?.byteLength).toBe(1_048_578);
    void writer.write(bytes("ef"));
    expect(new TextDecoder().decode((await reader?.read())?.value)).toBe("ef");
    const failed = failureOf(reader?.read());
    await vi.advanceTimersByTimeAsync(1000);
    expect(await failed).toBeInstanceOf(HandlerTimeoutError);
    await expect(writer.write(bytes("late"))).rejects.toBeInstanceOf(HandlerTimeoutError);
  });

  it('of "stream" goes out as it comes, and breaks off at the deadline', async () => {
    const { handler, writer } = openStream();
    let seen: AbortSignal | undefined;
    const answered = wrap(
      (given, context) => {
        seen = context.signal;
        return handler(given, context);
      },
      timeout(1000, { mode: "stream" }),
    )(request());
    const reader = (await answered).body?.getReader();
    void writer.write(bytes("a"));
    expect(new TextDecoder().decode((await reader?.read())?.value)).toBe("a");
    const failed = failureOf(reader?.read());
    await vi.advanceTimersByTimeAsync(1000);
    expect(await failed).toBeInstanceOf(HandlerTimeoutError);
    expect(seen?.reason).toBeInstanceOf(HandlerTimeoutError);
  });

  it('of "stream" is cancelled with its reader, and ends in time', async () => {
    const cancel = vi.fn();
    const source = (): Response => new Response(new ReadableStream({ cancel }));
    const cancelled = await wrap(source, timeout(1000, { mode: "stream" }))(request());
    await cancelled.body?.cancel("enough");
    expect(cancel).toHaveBeenCalledExactlyOnceWith("enough");
    const ended = await wrap(
      () => new Response("whole"),
      timeout(1000, { mode: "stream" }),
    )(request());
    expect(await ended.text()).toBe("whole");
  });

  const events: Handler = () =>
    new Response("data: 1\n\n", {
      headers: { "content-type": "Text/Event-Stream; charset=utf-8" },
    });

  it("of events is warned of once per middleware when it is held back", async () => {
    const warn = vi.spyOn(console, "warn").mockReturnValue();
    onTestFinished(() => warn.mockRestore());
    const handlers = [wrap(events, timeout(1000)), wrap(events, timeout(1000))];
    for (const handler of [...handlers, ...handlers]) {
      expect(await (await handler(request())).text()).toBe("data: 1\n\n");
    }
    expect(warn.mock.calls).toEqual([
      [expect.stringContaining('text/event-stream back until it is whole: use the mode "head"')],
      [expect.stringContaining("timeout")],
    ]);
  });

  it("of events is not warned of in another mode, and never in production", async () => {
    const warn = vi.spyOn(console, "warn").mockReturnValue();
    onTestFinished(() => {
      warn.mockRestore();
      vi.unstubAllEnvs();
    });
    await (await wrap(events, timeout(1000, { mode: "head" }))(request())).text();
    await (await wrap(events, timeout(1000, { mode: "stream" }))(request())).text();
    await (await wrap(() => new Response("page"), timeout(1000))(request())).text();
    vi.stubEnv("NODE_ENV", "production");
    await (await wrap(events, timeout(1000))(request())).text();
    expect(warn).not.toHaveBeenCalled();
  });

  it('of "head" has all the time it wants', async () => {
    const { handler, writer } = openStream();
    const response = await wrap(handler, timeout(1000, { mode: "head" }))(request());
    await vi.advanceTimersByTimeAsync(5000);
    const read = response.text();
    await writer.write(bytes("late"));
    void writer.close();
    expect(await read).toBe("late");
    const late = wrap(never, timeout(1000, { mode: "head" }))(request());
    await vi.advanceTimersByTimeAsync(1000);
    expect((await late).status).toBe(504);
  });
});

describe("around and inside other middlewares", () => {
  it("lets both sides change the headers of one response", async () => {
    for (const mode of ["buffer", "stream", "head"] as const) {
      for (const make of [() => new Response("x"), () => text("x"), () => new Response(null)]) {
        const handler = wrap(make, headers("a:1"), timeout(1000, { mode }), headers("b:2"));
        const response = await handler(request());
        expect([response.headers.get("a"), response.headers.get("b")]).toEqual(["1", "2"]);
        await response.text();
      }
    }
  });

  it("passes the values of the exchange to the handler", async () => {
    const key = createContextKey<string>("key");
    const incoming = request();
    const context = createContext(incoming, { peer: "192.0.2.1" });
    const finished = vi.fn();
    let inner: Context | undefined;
    const handler: Handler = (_request, given) => {
      inner = given;
      given.ip = "192.0.2.2";
      given.requestId = "r1";
      given.params = { id: "7" };
      given.set(key, "value");
      given.onFinish(finished);
      given.waitUntil(Promise.resolve());
      return text("x");
    };
    await wrap(handler, timeout(1000))(incoming, context);
    expect(context).toMatchObject({ ip: "192.0.2.2", requestId: "r1", params: { id: "7" } });
    expect([context.get(key), inner?.get(key)]).toEqual(["value", "value"]);
    expect(inner).toMatchObject({
      peer: "192.0.2.1",
      ip: "192.0.2.2",
      startedAt: context.startedAt,
    });
    expect([inner?.requestId, inner?.params]).toEqual(["r1", { id: "7" }]);
  });

  it("leaves no listener on a signal that lives on", async () => {
    const client = new AbortController();
    const add = vi.spyOn(client.signal, "addEventListener");
    const remove = vi.spyOn(client.signal, "removeEventListener");
    const incoming = request();
    const handler: Handler = async (_request, { signal }) => {
      expect(signal.aborted).toBe(false);
      return new Response("x");
    };
    const context = createContext(incoming, { signal: client.signal });
    await wrap(handler, timeout(1000))(incoming, context);
    expect(add.mock.calls.length).toBeGreaterThan(0);
    expect(remove.mock.calls.length).toBeGreaterThanOrEqual(add.mock.calls.length);
  });

  it("responds with the option respond, or throws its error", async () => {
    const custom = wrap(
      never,
      timeout(10, { respond: (error) => text(error.message, { status: 503 }) }),
    )(request());
    const thrown = wrap(
      never,
      timeout(10, {
        respond: (error) => {
          throw error;
        },
      }),
    )(request());
    const failed = failureOf(thrown);
    await vi.advanceTimersByTimeAsync(10);
    expect([(await custom).status, await (await custom).text()]).toEqual([
      503,
      "the handler was not done after 10 ms",
    ]);
    expect(await failed).toBeInstanceOf(HandlerTimeoutError);
  });
});

describe("over a socket", () => {
  beforeEach(() => {
    vi.useRealTimers();
  });

  afterEach(() => {
    // For the check after each test.
    vi.useFakeTimers();
  });

  it("aborts a fetch that it wraps, and keeps its address", async () => {
    const { promise: left, resolve } = Promise.withResolvers<void>();
    const server = await serve(
      ({ url }, { signal }) => {
        if (url.endsWith("/fast")) return text("fast");
        signal.addEventListener("abort", () => resolve());
        return never();
      },
      { port: 0, hostname: "127.0.0.1", signals: false },
    );
    onTestFinished(() => server.close({ gracePeriod: 0 }));
    const api = wrap(fetch, timeout(200));
    const fast = await api(new Request(`${server.url}fast`));
    expect([fast.status, fast.url, await fast.text()]).toEqual([200, `${server.url}fast`, "fast"]);
    expect((await api(new Request(`${server.url}slow`))).status).toBe(504);
    await left;
  });

  it("aborts request.signal of a received request with context.signal, and keeps the rest of it", async () => {
    const { promise: seen, resolve } = Promise.withResolvers<unknown[]>();
    const handler: Handler = async (received, { signal }) => {
      const body = await received.text();
      const { promise: aborted, resolve: abort } = Promise.withResolvers<void>();
      received.signal.addEventListener("abort", () => abort());
      await aborted;
      const { method, url, headers: fields } = received;
      const { pathname } = new URL(url);
      resolve([method, pathname, fields.get("x-a"), body, received.signal.reason, signal.reason]);
      return never();
    };
    const server = await serve(wrap(handler, timeout(50)), {
      port: 0,
      hostname: "127.0.0.1",
      signals: false,
    });
    onTestFinished(() => server.close({ gracePeriod: 0 }));
    const init = { method: "POST", body: "sent", headers: { "x-a": "1" } };
    expect((await fetch(`${server.url}path`, init)).status).toBe(504);
    const late = expect.any(HandlerTimeoutError);
    expect(await seen).toEqual(["POST", "/path", "1", "sent", late, late]);
  });

  it("passes a request of the platform on as it is", async () => {
    const incoming = request();
    const seen: Request[] = [];
    await wrap((given) => {
      seen.push(given);
      return text("x");
    }, timeout(1000))(incoming);
    expect(seen[0]).toBe(incoming);
  });

  it("responds with 504 from a server, and cancels the handler's body when the client leaves", async () => {
    const { promise: cancelled, resolve } = Promise.withResolvers<unknown>();
    const { promise: started, resolve: start } = Promise.withResolvers<void>();
    const handler: Handler = ({ url }) => {
      if (url.endsWith("/slow")) return never();
      return new Response(new ReadableStream({ pull: () => start(), cancel: resolve }));
    };
    const server = await serve(
      (request, context) =>
        wrap(handler, timeout(request.url.endsWith("/slow") ? 50 : 20_000))(request, context),
      { port: 0, hostname: "127.0.0.1", signals: false },
    );
    onTestFinished(() => server.close({ gracePeriod: 0 }));
    expect((await fetch(`${server.url}slow`)).status).toBe(504);
    const client = new AbortController();
    const asked = fetch(`${server.url}stream`, { signal: client.signal });
    await started;
    client.abort();
    await expect(asked).rejects.toThrow(/abort/i);
    expect(await cancelled).toBeInstanceOf(Error);
  });
});
