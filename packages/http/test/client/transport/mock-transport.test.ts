import {
  Client,
  json,
  mockTransport,
  text,
  wrap,
  type Handler,
  type Middleware,
} from "@fetchwork/http";
import { describe, expect, it, vi } from "vitest";

const baseUrl = "http://api.test/x";

describe("mockTransport", () => {
  it("refuses what is not a function", () => {
    expect(() => mockTransport({} as Handler)).toThrow(
      expect.objectContaining({ code: "ERR_HTTP_HANDLER" }),
    );
  });

  it("passes a request and a context to a handler", async () => {
    const client = new Client({
      transport: mockTransport(async (request, context) => {
        expect(request).toBeInstanceOf(Request);
        expect(context.startedAt).toBeGreaterThan(0);
        return json({ type: request.headers.get("content-type"), body: await request.json() });
      }),
    });
    const response = await client.send({ method: "POST", baseUrl, body: { a: 1 } });
    expect(response.json()).toEqual({ type: "application/json", body: { a: 1 } });
  });

  it("runs an application with its middlewares, and ends their exchanges", async () => {
    const seen: unknown[] = [];
    const log: Middleware = (next) => (request, context) => {
      context.onFinish(({ status, bytes }) => seen.push([status, bytes]));
      return next(request, context);
    };
    const client = new Client({
      transport: mockTransport(wrap(() => json({}, { status: 201 }), log)),
    });
    await client.send({ baseUrl });
    expect(seen).toEqual([[201, 2]]);
  });

  it("turns what a handler throws into a transport error with its cause", async () => {
    const cause = new RangeError("no");
    const client = new Client({
      transport: mockTransport(() => {
        throw cause;
      }),
    });
    await expect(client.send({ baseUrl })).rejects.toMatchObject({
      name: "ConnectionError",
      cause,
    });
  });

  it("fails for what is not a Response", async () => {
    const client = new Client({ transport: mockTransport((() => "text") as unknown as Handler) });
    await expect(client.send({ baseUrl })).rejects.toMatchObject({ code: "ERR_HTTP_CONNECTION" });
  });

  it("returns a coded body as it is, with its header", async () => {
    const headers = { "content-encoding": "gzip", "content-length": "5" };
    const client = new Client({
      transport: mockTransport(() => new Response("coded", { headers })),
    });
    const response = await client.send({ baseUrl });
    expect([
      response.body,
      response.header("content-encoding"),
      response.header("content-length"),
    ]).toEqual(["coded", "gzip", "5"]);
  });

  it("leaves no listener behind for a response without a body", async () => {
    const { signal } = new AbortController();
    const added = vi.spyOn(signal, "addEventListener");
    const removed = vi.spyOn(signal, "removeEventListener");
    const client = new Client({
      transport: mockTransport(() => new Response(null, { status: 204 })),
    });
    await client.stream({ baseUrl }, { signal });
    expect(added).toHaveBeenCalled();
    expect(removed).toHaveBeenCalledTimes(added.mock.calls.length);
  });

  it("fails when a body breaks off", async () => {
    const body = new ReadableStream<Uint8Array>({
      start(controller) {
        controller.enqueue(new Uint8Array(1));
        controller.error(Object.assign(new Error("gone"), { code: "ECONNRESET" }));
      },
    });
    const client = new Client({ transport: mockTransport(() => new Response(body)) });
    await expect(client.send({ baseUrl })).rejects.toMatchObject({
      name: "ConnectionError",
      reason: "reset",
    });
  });

  it("refuses a piece of a body that is neither bytes nor text", async () => {
    const client = new Client({
      transport: mockTransport(async (request) => text(await request.text())),
    });
    async function* body(): AsyncGenerator<string> {
      yield 1 as unknown as string;
    }
    await expect(client.send({ method: "POST", baseUrl, body: body() })).rejects.toMatchObject({
      code: "ERR_HTTP_BODY",
    });
  });

  it("sends no body back for HEAD", async () => {
    const client = new Client({
      transport: mockTransport(() => new Response("x", { headers: { a: "1" } })),
    });
    const response = await client.send({ method: "HEAD", baseUrl });
    expect([response.body, response.header("a")]).toEqual(["", "1"]);
  });

  it("tells the handler about an abort", async () => {
    const controller = new AbortController();
    let isAborted = false;
    const client = new Client({
      transport: mockTransport((request) => {
        request.signal.addEventListener("abort", () => (isAborted = true));
        controller.abort();
        return new Promise<Response>(() => undefined);
      }),
    });
    await expect(client.send({ baseUrl }, { signal: controller.signal })).rejects.toThrow();
    expect(isAborted).toBe(true);
  });
});
