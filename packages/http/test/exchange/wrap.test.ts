import { describe, expect, it } from "vitest";
import {
  json,
  text,
  wrap,
  type Context,
  type FinishReport,
  type Handler,
  type Middleware,
  runHandler,
} from "../../src/index.ts";

function recording(): { readonly middleware: Middleware; readonly report: Promise<FinishReport> } {
  const { promise, resolve } = Promise.withResolvers<FinishReport>();
  const middleware: Middleware = (next) => (request, context) => {
    context.onFinish(resolve);
    return next(request, context);
  };
  return { middleware, report: promise };
}

const get = (): Request => new Request("http://localhost/");

describe("wrap()", () => {
  it.each([
    ["handler", () => wrap(undefined as never)],
    ["middleware 1", () => wrap(() => text(""), 5 as never)],
    [
      "middleware 1 must return a handler, got undefined",
      () => wrap(() => text(""), (() => undefined) as never),
    ],
  ])("rejects a %s that is not a function, before any request", (what, make) => {
    expect(make).toThrow(expect.objectContaining({ code: "ERR_HTTP_HANDLER" }));
    expect(make).toThrow(what);
  });

  it("calls the first middleware outermost, and each factory once", async () => {
    const log: string[] = [];
    const named =
      (name: string): Middleware =>
      (next) => {
        log.push(`build ${name}`);
        return (request, context) => {
          log.push(name);
          return next(request, context);
        };
      };
    const handler = wrap(() => text("ok"), named("a"), named("b"));
    await handler(get());
    await handler(get());
    expect(log).toEqual(["build b", "build a", "a", "b", "a", "b"]);
  });

  it("returns a Response and not a promise when everything is synchronous", () => {
    expect(
      wrap(
        () => json(1),
        (next) => (request, context) => next(request, context),
      )(get()),
    ).toBeInstanceOf(Response);
  });

  it("returns a Handler that passes its context on", async () => {
    const seen: Context[] = [];
    const inner: Handler = wrap((_request, context) => {
      seen.push(context);
      return text("");
    });
    await wrap(inner, (next) => (request, context) => {
      seen.push(context);
      return next(request, context);
    })(get());
    expect(seen).toHaveLength(2);
    expect(seen[0]).toBe(seen[1]);
  });

  it("accepts a fetch as its handler", async () => {
    const fetched: typeof fetch = async () => new Response("fetched");
    expect(await (await wrap(fetched)(get())).text()).toBe("fetched");
  });

  it("ends the exchange when the body has been read, with its bytes", async () => {
    const { middleware, report } = recording();
    const response = await wrap(() => text("grüße"), middleware)(get());
    expect(await response.text()).toBe("grüße");
    expect(await report).toMatchObject({ status: 200, bytes: 7, aborted: false });
  });

  it("ends the exchange when the body is cancelled, and cancels the handler's", async () => {
    const { middleware, report } = recording();
    const { promise: cancelled, resolve } = Promise.withResolvers<unknown>();
    const body = new ReadableStream<Uint8Array>({
      pull: (controller) => controller.enqueue(new Uint8Array(3)),
      cancel: resolve,
    });
    const response = await wrap(() => new Response(body, { status: 201 }), middleware)(get());
    const reader = response.body?.getReader();
    await reader?.read();
    await reader?.cancel("enough");
    expect(await cancelled).toBe("enough");
    expect(await report).toMatchObject({ status: 201, bytes: 3, aborted: true });
  });

  it("ends the exchange when the body fails", async () => {
    const { middleware, report } = recording();
    const body = new ReadableStream({ pull: (controller) => controller.error(new Error("disk")) });
    const response = await wrap(() => new Response(body), middleware)(get());
    await expect(response.text()).rejects.toThrow("disk");
    expect(await report).toMatchObject({ error: new Error("disk"), aborted: false });
  });

  it.each([
    ["HEAD", () => wrapHead("HEAD", text("x"))],
    ["an empty body", () => wrapHead("GET", new Response(null, { status: 204 }))],
  ])("ends the exchange with the head for %s", async (_what, run) => {
    expect(await run()).toMatchObject({ bytes: 0 });
  });

  it.each([
    ["throws", (): never => fail()],
    ["rejects", async (): Promise<never> => fail()],
  ])(
    "ends the exchange with 500 when the handler %s, and passes the error on",
    async (_how, handler) => {
      const { middleware, report } = recording();
      await expect(async () => wrap(handler, middleware)(get())).rejects.toThrow("broken");
      expect(await report).toMatchObject({ status: 500, error: new Error("broken") });
    },
  );

  it("rejects a result that is not a Response", async () => {
    await expect(async () => wrap((async () => undefined) as never)(get())).rejects.toThrow(
      expect.objectContaining({ code: "ERR_HTTP_RESPONSE" }),
    );
  });
});

function fail(): never {
  throw new Error("broken");
}

async function wrapHead(method: string, response: Response): Promise<FinishReport> {
  const { middleware, report } = recording();
  await wrap(() => response, middleware)(new Request("http://localhost/", { method }));
  return report;
}

describe("runHandler()", () => {
  it("passes the handler what the runtime knows, and ends the exchange with the body", async () => {
    const { middleware, report } = recording();
    const handler = wrap((_request, context) => text(context.ip ?? "none"), middleware);
    const response = await runHandler(handler, get(), { peer: "192.0.2.1" });
    expect(await response.text()).toBe("192.0.2.1");
    expect(await report).toMatchObject({ status: 200, bytes: 9, aborted: false });
  });

  it("rethrows the error of the handler, after the end of the exchange", async () => {
    const { middleware, report } = recording();
    const handler = wrap(() => Promise.reject(new Error("broken")), middleware);
    await expect(runHandler(handler, get())).rejects.toThrow("broken");
    expect(await report).toMatchObject({ status: 500, bytes: 0 });
  });
});
