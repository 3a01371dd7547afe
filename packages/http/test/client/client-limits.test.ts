import {
  Client,
  TimeoutError,
  mockTransport,
  text,
  type ClientOptions,
  type Handler,
} from "@fetchwork/http";
import { afterEach, describe, expect, it, vi } from "vitest";

const baseUrl = "http://api.test/x";

afterEach(() => vi.useRealTimers());

function clientOf(handler: Handler, options: ClientOptions = {}): Client {
  return new Client({ transport: mockTransport(handler), ...options });
}

describe("the total time", () => {
  it("ends a request that waits for its response", async () => {
    vi.useFakeTimers();
    const client = clientOf(() => new Promise<Response>(() => undefined), { timeout: 50 });
    const promise = client.send({ baseUrl }).catch((error: unknown) => error);
    await vi.advanceTimersByTimeAsync(50);
    const error = await promise;
    expect(error).toBeInstanceOf(TimeoutError);
    expect(error).toMatchObject({ phase: "total", limit: 50, code: "ERR_HTTP_TIMEOUT" });
    expect(vi.getTimerCount()).toBe(0);
  });

  it("counts for redirects and repetitions together", async () => {
    vi.useFakeTimers();
    let requests = 0;
    const client = clientOf(
      async () => {
        requests += 1;
        await new Promise((resolve) => setTimeout(resolve, 20));
        return new Response(null, { status: 302, headers: { location: "/again" } });
      },
      { timeout: 70 },
    );
    const promise = client.send({ baseUrl }).catch((error: unknown) => error);
    await vi.advanceTimersByTimeAsync(100);
    expect(await promise).toMatchObject({ phase: "total" });
    expect(requests).toBe(4);
  });

  it("ends a stream that is being read", async () => {
    vi.useFakeTimers();
    const endless = (): Response =>
      new Response(
        new ReadableStream<Uint8Array>({
          async pull(controller) {
            await new Promise((resolve) => setTimeout(resolve, 20));
            controller.enqueue(new Uint8Array(1));
          },
        }),
      );
    const { body } = await clientOf(endless, { timeout: 70 }).stream({ baseUrl });
    const read = (async () => {
      for await (const piece of body) expect(piece).toHaveLength(1);
    })().catch((error: unknown) => error);
    await vi.advanceTimersByTimeAsync(100);
    expect(await read).toMatchObject({ name: "TimeoutError", phase: "total" });
    vi.clearAllTimers();
  });

  it.each([
    ["read", async (body: ReadableStream) => void (await new Response(body).text())],
    ["cancelled", (body: ReadableStream) => body.cancel()],
  ])("leaves no timer behind when the stream was %s", async (_, finish) => {
    vi.useFakeTimers();
    const client = clientOf(() => text("x"), { timeout: 5000 });
    const { body } = await client.stream({ baseUrl });
    await finish(body);
    expect(vi.getTimerCount()).toBe(0);
  });

  it.each([
    ["HEAD", 200],
    ["GET", 204],
    ["GET", 304],
  ])("leaves no timer behind for %s and %i, which have no body to read", async (method, status) => {
    vi.useFakeTimers();
    const client = clientOf(() => new Response(null, { status }), { timeout: 5000 });
    await client.stream({ method, baseUrl });
    expect(vi.getTimerCount()).toBe(0);
  });

  it("leaves no timer and no listener behind after a response, an error and a redirect", async () => {
    vi.useFakeTimers();
    const { signal } = new AbortController();
    const added = vi.spyOn(signal, "addEventListener");
    const removed = vi.spyOn(signal, "removeEventListener");
    const client = clientOf(({ url }) =>
      url.endsWith("x")
        ? new Response(null, { status: 302, headers: { location: "/y" } })
        : text("y"),
    );
    await client.send({ baseUrl }, { timeout: 5000, signal });
    await client.trySend({ baseUrl }, { timeout: 5000, signal, redirect: 0 });
    expect(vi.getTimerCount()).toBe(0);
    expect(added.mock.calls.length).toBeGreaterThan(0);
    expect(removed).toHaveBeenCalledTimes(added.mock.calls.length);
  });
});

describe("an abort", () => {
  it.each([{}, { timeout: 1000 }, { retry: 3 }])(
    "before the request sends nothing, with %j",
    async (options) => {
      let requests = 0;
      const client = clientOf(() => text(String((requests += 1))), options);
      const reason = new Error("enough");
      const promise = client.send({ baseUrl }, { signal: AbortSignal.abort(reason) });
      await expect(promise).rejects.toMatchObject({
        name: "AbortError",
        code: "ERR_HTTP_ABORTED",
        cause: reason,
      });
      expect(requests).toBe(0);
    },
  );

  it.each([{}, { timeout: 1000 }, { retry: 3 }])(
    "ends a request that waits, with %j",
    async (options) => {
      const controller = new AbortController();
      const client = clientOf(() => {
        controller.abort("enough");
        return new Promise<Response>(() => undefined);
      }, options);
      const promise = client.send({ baseUrl }, { signal: controller.signal });
      await expect(promise).rejects.toMatchObject({ name: "AbortError", cause: "enough" });
    },
  );

  it("ends a body that is being read", async () => {
    const controller = new AbortController();
    const stream = new ReadableStream<Uint8Array>({ start: (c) => c.enqueue(new Uint8Array(3)) });
    const { body } = await clientOf(() => new Response(stream)).stream(
      { baseUrl },
      { signal: controller.signal },
    );
    const reader = body.getReader();
    expect((await reader.read()).value).toHaveLength(3);
    const next = reader.read();
    controller.abort();
    await expect(next).rejects.toMatchObject({ name: "AbortError" });
  });
});

describe("the size of a response", () => {
  it("is limited while it is read", async () => {
    let pulled = 0;
    const endless = (): Response =>
      new Response(
        new ReadableStream<Uint8Array>({
          pull(controller) {
            pulled += 1;
            controller.enqueue(new Uint8Array(1000));
          },
        }),
      );
    const promise = clientOf(endless, { maxResponseSize: 5000 }).send({ baseUrl });
    await expect(promise).rejects.toMatchObject({ name: "TooLargeError", limit: 5000 });
    expect(pulled).toBeLessThan(10);
  });

  it("may be the limit itself, and one byte more is too much", async () => {
    const client = clientOf(() => text("12345"));
    expect((await client.send({ baseUrl }, { maxResponseSize: 5 })).body).toBe("12345");
    await expect(client.send({ baseUrl }, { maxResponseSize: 4 })).rejects.toMatchObject({
      code: "ERR_HTTP_TOO_LARGE",
    });
  });

  it("is 16 MiB for send and without limit for a stream, unless somebody says so", async () => {
    const client = clientOf(() => new Response(new Uint8Array(16_777_217)));
    await expect(client.send({ baseUrl })).rejects.toMatchObject({ limit: 16_777_216 });
    const { body } = await client.stream({ baseUrl });
    expect((await new Response(body).bytes()).byteLength).toBe(16_777_217);
    await expect(
      client
        .stream({ baseUrl }, { maxResponseSize: 9 })
        .then(({ body: b }) => new Response(b).text()),
    ).rejects.toMatchObject({ name: "TooLargeError" });
  });
});
