import { once } from "node:events";
import { connect } from "node:net";
import { createContext, finishContext, text, wrap, type Handler } from "@fetchwork/http";
import { serve } from "@fetchwork/http/serve";
import { describe, expect, it, vi } from "vitest";
import { throttle, type ThrottleOptions } from "../../src/limits/throttle.ts";

/** A handler whose requests wait until they are let go. */
function gate(): { handler: Handler; open: () => void; entered: () => number } {
  const waiting: (() => void)[] = [];
  let count = 0;
  return {
    handler: () => {
      count += 1;
      return new Promise((resolve) => {
        waiting.push(() => resolve(text("done")));
      });
    },
    open: () => {
      for (const go of waiting.splice(0)) go();
    },
    entered: () => count,
  };
}

function ask(handler: Handler, path = "/"): Promise<Response> {
  const request = new Request(`http://localhost${path}`);
  const context = createContext(request);
  return Promise.resolve(handler(request, context)).then((response) => {
    finishContext(context, { status: response.status, bytes: 0 });
    return response;
  });
}

describe("throttle", () => {
  it.each<[number, ThrottleOptions]>([
    [Number.NaN, {}],
    [0, {}],
    [-1, {}],
    [1.5, {}],
    [1, { backlog: -1 }],
    [1, { timeout: -1 }],
    [1, { timeout: Infinity }],
    [1, { status: 200 }],
    [1, { retryAfter: 0.5 }],
  ])("refuses %j, %j", (limit, options) => {
    expect(() => throttle(limit, options)).toThrow(
      expect.objectContaining({ code: "ERR_MIDDLEWARE_OPTION" }),
    );
  });

  // Research A6.
  it("passes 10 of 100 concurrent requests and refuses 90", async () => {
    const { handler, open } = gate();
    const throttled = wrap(handler, throttle(10));
    const answers = Array.from({ length: 100 }, () => ask(throttled));
    const refused = await Promise.all(answers.slice(10));
    expect(refused.map((response) => response.status)).toEqual(Array(90).fill(503));
    expect(await refused[0]?.text()).toBe("");
    expect([...(refused[0]?.headers ?? [])]).toEqual([]);
    open();
    const accepted = await Promise.all(answers.slice(0, 10));
    expect(accepted.map((response) => response.status)).toEqual(Array(10).fill(200));
    const later = [ask(throttled), ask(throttled)];
    open();
    expect((await Promise.all(later)).map((response) => response.status)).toEqual([200, 200]);
  });

  it("accepts a wait of 0 and a Retry-After of 0", async () => {
    const { handler, open } = gate();
    const throttled = wrap(handler, throttle(1, { backlog: 5, timeout: 0, retryAfter: 0 }));
    const first = ask(throttled);
    const refused = await ask(throttled);
    expect([refused.status, refused.headers.get("retry-after")]).toEqual([503, "0"]);
    open();
    expect((await first).status).toBe(200);
  });

  it("throttle() has no limit with Infinity", async () => {
    const { handler, open } = gate();
    const throttled = wrap(handler, throttle(Infinity));
    const answers = Array.from({ length: 50 }, () => ask(throttled));
    open();
    expect((await Promise.all(answers)).every(({ status }) => status === 200)).toBe(true);
  });

  it("shares its places among the handlers that it wraps", async () => {
    const { handler, open } = gate();
    const middleware = throttle(1);
    const first = ask(wrap(handler, middleware));
    expect((await ask(wrap(handler, middleware))).status).toBe(503);
    expect((await ask(wrap(() => text("other"), throttle(1)))).status).toBe(200);
    open();
    await first;
  });

  it("frees places when handlers fail", async () => {
    const middleware = throttle(1);
    const rejects = wrap(() => Promise.reject(new Error("a")), middleware);
    const throws = wrap(() => {
      throw new Error("b");
    }, middleware);
    for (const failing of [rejects, throws, rejects]) {
      await expect(async () => failing(new Request("http://localhost/"))).rejects.toThrow(/^[ab]$/);
    }
    expect(
      (await wrap(() => text("ok"), middleware)(new Request("http://localhost/"))).status,
    ).toBe(200);
  });

  it("responds with another status and Retry-After", async () => {
    const { handler } = gate();
    const throttled = wrap(handler, throttle(1, { status: 429, retryAfter: 7 }));
    void ask(throttled);
    const response = await ask(throttled);
    expect([response.status, response.headers.get("retry-after")]).toEqual([429, "7"]);
  });

  it("lets waiting requests pass in order", async () => {
    const order: string[] = [];
    const releases: (() => void)[] = [];
    const throttled = wrap(
      (request) => {
        order.push(request.url.slice(-1));
        return new Promise<Response>((resolve) => {
          releases.push(() => resolve(text("")));
        });
      },
      throttle(1, { backlog: 2 }),
    );
    const responses = ["/1", "/2", "/3", "/4"].map((path) => ask(throttled, path));
    expect((await responses[3])?.status).toBe(503);
    for (let index = 0; index < 3; index += 1) {
      await vi.waitFor(() => expect(releases.length).toBe(index + 1));
      releases[index]?.();
      expect((await responses[index])?.status).toBe(200);
    }
    expect(order).toEqual(["1", "2", "3"]);
  });

  it("refuses requests that wait too long", async () => {
    vi.useFakeTimers();
    try {
      const { handler, entered } = gate();
      const throttled = wrap(handler, throttle(1, { backlog: 5, timeout: 1000 }));
      void ask(throttled);
      const late = ask(throttled);
      await vi.advanceTimersByTimeAsync(1000);
      expect((await late).status).toBe(503);
      expect(entered()).toBe(1);
      expect(vi.getTimerCount()).toBe(0);
    } finally {
      vi.useRealTimers();
    }
  });

  it("drops a waiting client that has left, and keeps the place of a working handler", async () => {
    const { handler, open, entered } = gate();
    const throttled = wrap(handler, throttle(1, { backlog: 5 }));
    const start = (): [Promise<Response>, () => void] => {
      const request = new Request("http://localhost/");
      const context = createContext(request);
      return [
        Promise.resolve(throttled(request, context)),
        () => finishContext(context, { status: 499, bytes: 0, aborted: true }),
      ];
    };
    const [working, leaveWork] = start();
    const [waiting, leaveQueue] = start();
    leaveQueue();
    expect((await waiting).status).toBe(503);
    leaveWork();
    const third = ask(throttled);
    await Promise.resolve();
    expect(entered()).toBe(1);
    open();
    await working;
    await expect.poll(() => entered()).toBe(2);
    open();
    expect((await third).status).toBe(200);
  });

  it("holds a place until the body has been sent", async () => {
    let controller: ReadableStreamDefaultController<Uint8Array> | undefined;
    const streaming = wrap(
      (request) =>
        request.url.endsWith("/stream")
          ? new Response(
              new ReadableStream<Uint8Array>({
                start(own) {
                  controller = own;
                  own.enqueue(Buffer.from("a"));
                },
              }),
            )
          : text("ok"),
      throttle(1),
    );
    await using server = await serve(streaming, {
      port: 0,
      hostname: "127.0.0.1",
      signals: false,
      gracePeriod: 0,
    });
    const response = await fetch(`${server.url}stream`);
    const reader = response.body?.getReader();
    await reader?.read();
    expect((await fetch(server.url)).status).toBe(503);
    controller?.close();
    expect((await reader?.read())?.done).toBe(true);
    await expect.poll(async () => (await fetch(server.url)).status).toBe(200);
    // The client breaks off: that frees the place too.
    const { port } = new URL(server.url);
    const socket = connect(Number(port), "127.0.0.1");
    socket.write("GET /stream HTTP/1.1\r\nHost: localhost\r\n\r\n");
    await once(socket, "data");
    expect((await fetch(server.url)).status).toBe(503);
    socket.destroy();
    await expect.poll(async () => (await fetch(server.url)).status).toBe(200);
  });
});
