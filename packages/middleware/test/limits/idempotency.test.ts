import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { createContext, empty, json, text, wrap, type Handler } from "@fetchwork/http";
import { fromNodeListener, serve } from "@fetchwork/http/serve";
import { describe, expect, it } from "vitest";
import { basicAuth } from "../../src/access/basic-auth.ts";
import { idempotency, type IdempotencyOptions } from "../../src/limits/idempotency.ts";
import type { IdempotencyStore } from "../../src/limits/idempotency-store.ts";
import { memoryIdempotencyStore } from "../../src/limits/memory-idempotency-store.ts";
import { timeout } from "../../src/limits/timeout.ts";

interface Sent {
  readonly key?: string;
  readonly method?: string;
  readonly path?: string;
  readonly body?: BodyInit;
  readonly headers?: Record<string, string>;
  readonly peer?: string;
}

async function ask(handler: Handler, sent: Sent = {}): Promise<Response> {
  const { key = "k1", method = "POST", path = "/", body = "body", peer = "1.2.3.4" } = sent;
  const headers = new Headers({ "content-type": "text/plain", ...sent.headers });
  if (key !== "") headers.set("idempotency-key", key);
  const request = new Request(`http://localhost${path}`, {
    method,
    headers,
    body: method === "GET" ? null : body,
  });
  return handler(request, createContext(request, { peer, reportError: () => undefined }));
}

/** Counts how often it ran, and echoes the body. */
function counting(options: IdempotencyOptions = {}): { handler: Handler; runs: () => number } {
  let runs = 0;
  const handler = wrap(async (request) => {
    runs += 1;
    return json(
      { run: runs, body: await request.text() },
      { status: 201, headers: { location: "/1" } },
    );
  }, idempotency(options));
  return { handler, runs: () => runs };
}

describe("idempotency", () => {
  it.each<[IdempotencyOptions]>([
    [{ header: "a b" }],
    [{ keepFor: 0 }],
    [{ lockFor: Infinity }],
    [{ maxRequestBytes: -1 }],
    [{ maxResponseBytes: 0.5 }],
    [{ methods: JSON.parse('"POST"') }],
    [{ actor: JSON.parse("1") }],
  ])("refuses %j", (options) => {
    expect(() => idempotency(options)).toThrow(
      expect.objectContaining({ code: "ERR_MIDDLEWARE_OPTION" }),
    );
  });

  it.each([" ", "a b", "é", '"', '"a', 'a"b', "x".repeat(256), '""', "a\tb"])(
    "responds with 400 to the key %j",
    async (key) => {
      const { handler, runs } = counting();
      const headers = { "idempotency-key": key };
      const response = await ask(handler, { key: "", headers });
      expect([response.status, runs()]).toEqual([400, 0]);
    },
  );

  it("replays the response and runs once", async () => {
    const { handler, runs } = counting();
    const first = await ask(handler);
    const second = await ask(handler);
    expect(await first.json()).toEqual({ run: 1, body: "body" });
    expect(await second.json()).toEqual({ run: 1, body: "body" });
    expect([first.status, second.status, runs()]).toEqual([201, 201, 1]);
    expect(second.headers.get("location")).toBe("/1");
    expect(second.headers.get("content-length")).toBe(String('{"run":1,"body":"body"}'.length));
    expect(second.headers.get("content-type")).toBe(first.headers.get("content-type"));
    expect([first, second].map((one) => one.headers.get("idempotency-replayed"))).toEqual([
      null,
      "true",
    ]);
    await ask(handler, { key: "k2" });
    expect(runs()).toBe(2);
  });

  it("treats a key in quotes as the same key", async () => {
    const { handler, runs } = counting();
    await ask(handler, { key: "abc" });
    await ask(handler, { key: '"abc"' });
    await ask(handler, { key: String.raw`"a\"c"` });
    expect(runs()).toBe(2);
  });

  it.each<[string, Sent]>([
    ["body", { body: "other" }],
    ["path", { path: "/other" }],
    ["query", { path: "/?a=b" }],
    ["method", { method: "PATCH" }],
    ["content type", { headers: { "content-type": "application/json" } }],
  ])("responds with 422 to the same key with another %s", async (_, sent) => {
    const { handler, runs } = counting();
    await ask(handler);
    const response = await ask(handler, sent);
    expect([response.status, await response.json(), runs()]).toEqual([
      422,
      { error: "this Idempotency-Key belongs to another request" },
      1,
    ]);
  });

  it("responds with 409 while the first one runs", async () => {
    const gate = Promise.withResolvers<Response>();
    const entered = Promise.withResolvers<void>();
    const handler = wrap(() => {
      entered.resolve();
      return gate.promise;
    }, idempotency());
    const first = ask(handler);
    await entered.promise;
    const second = await ask(handler);
    expect([second.status, second.headers.get("retry-after")]).toEqual([409, "1"]);
    expect((await ask(handler, { body: "other" })).status).toBe(422);
    gate.resolve(text("done"));
    expect(await (await first).text()).toBe("done");
    expect(await (await ask(handler)).text()).toBe("done");
  });

  it("finishes and stores what an application does for a client that left", async () => {
    const started = Promise.withResolvers<void>();
    const released = Promise.withResolvers<void>();
    const ended = Promise.withResolvers<void>();
    let runs = 0;
    const handler = wrap(
      fromNodeListener(async (_request, response) => {
        runs += 1;
        started.resolve();
        await released.promise;
        response.end("charged");
      }),
      (next) => async (request, context) => {
        context.signal.addEventListener("abort", () => released.resolve());
        try {
          return await next(request, context);
        } finally {
          ended.resolve();
        }
      },
      idempotency(),
    );
    await using server = await serve(handler, { port: 0, hostname: "127.0.0.1" });
    const client = new AbortController();
    const init = { method: "POST", body: "pay", headers: { "idempotency-key": "k1" } };
    const first = fetch(server.url, { ...init, signal: client.signal });
    await started.promise;
    client.abort();
    await expect(first).rejects.toThrow("aborted");
    await ended.promise;
    const second = await fetch(server.url, init);
    expect([await second.text(), second.headers.get("idempotency-replayed"), runs]).toEqual([
      "charged",
      "true",
      1,
    ]);
  });

  it.each([
    ["after the response", false],
    ["before it", true],
  ])("tells a handler that a client left %s that was not kept", async (_, isEarly) => {
    const client = new AbortController();
    const told = Promise.withResolvers<void>();
    const handler = wrap(({ signal }) => {
      if (isEarly) client.abort();
      signal.addEventListener("abort", () => told.resolve());
      return new Response("an event", { status: 500 });
    }, idempotency());
    const request = new Request("http://localhost/", {
      method: "POST",
      headers: { "idempotency-key": "k1" },
      signal: client.signal,
    });
    const { status } = await handler(request, createContext(request, { peer: "1.2.3.4" }));
    expect(status).toBe(500);
    client.abort();
    await told.promise;
  });

  it("inside of timeout, replays what was done after the 504", async () => {
    const released = Promise.withResolvers<void>();
    const ended = Promise.withResolvers<void>();
    let runs = 0;
    const handler = wrap(
      fromNodeListener(async (_request, response) => {
        runs += 1;
        await released.promise;
        response.end("charged");
      }),
      timeout(10),
      (next) => async (request, context) => {
        const response = await next(request, context);
        if (response.status === 200) ended.resolve();
        return response;
      },
      idempotency(),
    );
    expect((await ask(handler)).status).toBe(504);
    expect((await ask(handler)).status).toBe(409);
    released.resolve();
    await ended.promise;
    const again = await ask(handler);
    expect([again.status, await again.text(), runs]).toEqual([200, "charged", 1]);
  });

  it("runs once for a hundred requests at once", async () => {
    const { handler, runs } = counting();
    const answers = await Promise.all(Array.from({ length: 100 }, () => ask(handler)));
    expect(runs()).toBe(1);
    expect(answers.every(({ status }) => status === 201 || status === 409)).toBe(true);
  });

  it("runs a repetition after a failure and after responses that are not stored", async () => {
    const outcomes: (() => Response)[] = [
      () => {
        throw new Error("first");
      },
      () => text("", { status: 500 }),
      () => text("", { status: 429 }),
      () => text("done"),
      () => text("never"),
    ];
    const handler = wrap(() => outcomes.shift()?.() ?? text("none"), idempotency());
    await expect(ask(handler)).rejects.toThrow("first");
    const statuses: number[] = [];
    for (let index = 0; index < 4; index += 1) statuses.push((await ask(handler)).status);
    expect(statuses).toEqual([500, 429, 200, 200]);
    expect(outcomes).toHaveLength(1);
  });

  it("separates the keys of different actors", async () => {
    const { handler, runs } = counting();
    await ask(handler, { peer: "1.1.1.1" });
    await ask(handler, { peer: "2.2.2.2" });
    await ask(handler, { headers: { authorization: "Bearer a" } });
    await ask(handler, { headers: { authorization: "Bearer b" } });
    expect(runs()).toBe(4);
    await ask(handler, { headers: { authorization: "Bearer a" }, peer: "9.9.9.9" });
    expect(runs()).toBe(4);
    const byCookie = counting({ actor: async (request) => request.headers.get("cookie") ?? "" });
    await ask(byCookie.handler, { headers: { cookie: "a" } });
    await ask(byCookie.handler, { headers: { cookie: "b" } });
    await ask(byCookie.handler, { headers: { cookie: "b" } });
    expect(byCookie.runs()).toBe(2);
  });

  it("identifies the user of basicAuth, whatever the password was", async () => {
    const inner = counting();
    const handler = wrap(
      inner.handler,
      basicAuth(() => true),
    );
    for (const credentials of ["a:1", "a:2", "b:1"]) {
      await ask(handler, { headers: { authorization: `Basic ${btoa(credentials)}` } });
    }
    expect(inner.runs()).toBe(2);
  });

  it("ignores other methods and requests without a key", async () => {
    const { handler, runs } = counting();
    await ask(handler, { method: "GET" });
    await ask(handler, { method: "GET" });
    await ask(handler, { method: "PUT" });
    await ask(handler, { method: "PUT" });
    await ask(handler, { key: "" });
    await ask(handler, { key: "" });
    expect(runs()).toBe(6);
    expect((await ask(counting({ required: true }).handler, { key: "" })).status).toBe(400);
  });

  it("responds with 413 to a body above the limit, and accepts one at it", async () => {
    const { handler, runs } = counting({ maxRequestBytes: 4 });
    expect((await ask(handler, { body: "12345" })).status).toBe(413);
    expect([(await ask(handler, { body: "1234" })).status, runs()]).toEqual([201, 1]);
  });

  it("sends a response that is too large in full, and does not run again", async () => {
    let runs = 0;
    const body = "x".repeat(300_000);
    const handler = wrap(
      () => {
        runs += 1;
        return new Response(new Blob([body]).stream(), { status: 202, headers: { "x-a": "b" } });
      },
      idempotency({ maxResponseBytes: 100_000 }),
    );
    const first = await ask(handler);
    expect([first.status, first.headers.get("x-a"), await first.text()]).toEqual([202, "b", body]);
    const second = await ask(handler);
    expect([second.status, await second.json(), runs]).toEqual([
      409,
      { error: "the request was done, and its response was not stored" },
      1,
    ]);
  });

  it("does not hold events back", async () => {
    const handler = wrap(
      () =>
        new Response(
          new ReadableStream({
            start: (controller) => controller.enqueue(Buffer.from("data: 1\n\n")),
          }),
          { headers: { "content-type": "text/event-stream" } },
        ),
      idempotency(),
    );
    const reader = (await ask(handler)).body?.getReader();
    expect(Buffer.from((await reader?.read())?.value ?? []).toString()).toBe("data: 1\n\n");
    await reader?.cancel();
  });

  it("replays responses without a body, bytes and several cookies", async () => {
    const handlers = [
      () => empty(204),
      () => new Response(Uint8Array.from([0, 255, 128]), { status: 200 }),
      () => {
        const headers = new Headers([
          ["set-cookie", "a=1"],
          ["set-cookie", "b=2"],
        ]);
        return json({}, { headers });
      },
    ];
    for (const [index, respond] of handlers.entries()) {
      const handler = wrap(respond, idempotency());
      const first = await ask(handler, { key: `k${index}` });
      const second = await ask(handler, { key: `k${index}` });
      expect(second.status).toBe(first.status);
      expect(await second.bytes()).toEqual(await first.bytes());
      expect(second.headers.getSetCookie()).toEqual(first.headers.getSetCookie());
    }
  });

  it("responds with 503 without running when the store fails, and sends the response when it fails later", async () => {
    const failing = (): Promise<never> => Promise.reject(new Error("down"));
    const memory = memoryIdempotencyStore();
    const closed = counting({ store: { begin: failing, complete: failing, abandon: failing } });
    expect([(await ask(closed.handler)).status, closed.runs()]).toEqual([503, 0]);
    const store: IdempotencyStore = { ...memory, complete: failing, abandon: failing };
    const late = counting({ store });
    expect([(await ask(late.handler)).status, late.runs()]).toEqual([201, 1]);
    expect([(await ask(late.handler)).status, late.runs()]).toEqual([409, 1]);
  });

  it("works over a socket", async () => {
    const { handler, runs } = counting();
    await using server = await serve(handler, {
      port: 0,
      hostname: "127.0.0.1",
      signals: false,
      gracePeriod: 0,
    });
    const send = (): Promise<Response> =>
      fetch(server.url, { method: "POST", body: "socket", headers: { "idempotency-key": "s" } });
    expect(await (await send()).json()).toEqual({ run: 1, body: "socket" });
    const replay = await send();
    expect(await replay.json()).toEqual({ run: 1, body: "socket" });
    expect([replay.headers.get("idempotency-replayed"), runs()]).toEqual(["true", 1]);
  });
});

describe("memoryIdempotencyStore", () => {
  it("drops responses when their time is over, and keys whose request never ended", async () => {
    let time = 0;
    const now = (): number => time;
    const { handler, runs } = counting({ store: memoryIdempotencyStore({ now }), keepFor: 1000 });
    await ask(handler);
    time = 999;
    await ask(handler);
    expect(runs()).toBe(1);
    time = 1000;
    await ask(handler);
    expect(runs()).toBe(2);

    let hung = 0;
    const hanging = wrap(
      () => {
        hung += 1;
        return new Promise<Response>(() => undefined);
      },
      idempotency({ store: memoryIdempotencyStore({ now }), lockFor: 500 }),
    );
    void ask(hanging);
    await expect.poll(() => hung).toBe(1);
    expect((await ask(hanging)).status).toBe(409);
    time += 500;
    void ask(hanging);
    await expect.poll(() => hung).toBe(2);
  });

  it("keeps the response of the run that holds the key, whenever an earlier run ends", async () => {
    let time = 0;
    const store = memoryIdempotencyStore({ now: () => time });
    const response = { status: 200, statusText: "", headers: [], body: "" };
    const slow = { fingerprint: "f", owner: "slow" };
    const quick = { fingerprint: "f", owner: "quick" };
    await store.begin("k", { ...slow, lockFor: 10 });
    time = 10;
    expect(await store.begin("k", { ...quick, lockFor: 10 })).toBeUndefined();
    await store.complete("k", { ...slow, response: { ...response, status: 201 }, keepFor: 100 });
    expect(await store.begin("k", { ...slow, lockFor: 10 })).toEqual({ fingerprint: "f" });
    await store.abandon("k", slow);
    await store.complete("k", { ...quick, response, keepFor: 100 });
    await store.complete("k", { ...slow, response: { ...response, status: 201 }, keepFor: 100 });
    expect((await store.begin("k", { ...slow, lockFor: 10 }))?.response?.status).toBe(200);
  });

  it.each([{ maxKeys: 0 }, { maxKeys: 1.5 }, { maxBytes: -1 }])("refuses %j", (options) => {
    expect(() => memoryIdempotencyStore(options)).toThrow(
      expect.objectContaining({ code: "ERR_MIDDLEWARE_OPTION" }),
    );
  });

  it("keeps the keys of all running requests, whatever others begin", async () => {
    let time = 0;
    const store = memoryIdempotencyStore({ now: () => time });
    const begin = (key: string, lockFor: number): Promise<unknown> =>
      store.begin(key, { fingerprint: "f", owner: key, lockFor });
    expect(await begin("long", 100)).toBeUndefined();
    expect(await begin("short", 10)).toBeUndefined();
    time = 50;
    expect(await begin("other", 100)).toBeUndefined();
    expect(await begin("long", 100)).toEqual({ fingerprint: "f" });
    expect(await begin("other", 100)).toEqual({ fingerprint: "f" });
    expect(await begin("short", 100)).toBeUndefined();
  });

  it("keeps nothing of requests whose key was released", async () => {
    setFlagsFromString("--expose-gc");
    const collect = runInNewContext("gc") as () => void;
    let time = 0;
    const store = memoryIdempotencyStore({ now: () => time });
    const begin = async (count: number): Promise<number> => {
      for (let index = 0; index < count; index += 1) {
        time += 1;
        // As after a response that broke off: neither completed nor abandoned.
        await store.begin(`key ${time}`.padEnd(64), { fingerprint: "f", owner: "o", lockFor: 500 });
      }
      collect();
      return process.memoryUsage().heapUsed;
    };
    const before = await begin(1000);
    expect((await begin(50_000)) - before).toBeLessThan(3_000_000);
  });

  it.each([{ maxKeys: 2 }, { maxBytes: 1500 }])("drops the oldest beyond %j", async (options) => {
    const { handler, runs } = counting({ store: memoryIdempotencyStore(options) });
    for (const key of ["a", "b", "c"]) await ask(handler, { key });
    await ask(handler, { key: "c" });
    await ask(handler, { key: "b" });
    expect(runs()).toBe(3);
    await ask(handler, { key: "a" });
    expect(runs()).toBe(4);
  });
});
