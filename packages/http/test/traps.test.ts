import { getEventListeners } from "node:events";
import express from "express";
import { afterEach, describe, expect, it } from "vitest";
import {
  addVary,
  changeHeaders,
  deriveRequest,
  empty,
  json,
  nativeRequest,
  setDefault,
  text,
  wrap,
  type FinishReport,
  type Handler,
  type Middleware,
} from "../src/index.ts";
import { fromNodeListener, serve, writeEarlyHints, type RunningServer } from "../src/node/index.ts";
import { exchange } from "./node/raw-client.ts";

// The eight traps of middlewares on web standards: what goes wrong when requests and responses are
// used as they are.

let server: RunningServer | undefined;

async function start(handler: Handler): Promise<RunningServer> {
  server = await serve(handler, {
    port: 0,
    hostname: "127.0.0.1",
    signals: false,
    reportError: () => undefined,
  });
  return server;
}

afterEach(async () => {
  await server?.close({ gracePeriod: 0 });
});

describe("the traps of the shape", () => {
  it("trap 1: a request is changed without a copy, a listener or the platform's constructor", async () => {
    const controller = new AbortController();
    const source = new Request("http://a/", { signal: controller.signal });
    const before = getEventListeners(source.signal, "abort").length;
    let derived = source;
    for (let count = 0; count < 100; count += 1)
      derived = deriveRequest(derived, { headers: { "x-count": `${count}` } });
    expect(derived.headers.get("x-count")).toBe("99");
    expect(getEventListeners(source.signal, "abort")).toHaveLength(before);

    // `new Request(request, init)` throws for what a server on Node hands out; this is what works.
    const { url } = await start(async (request) => {
      const rewritten = deriveRequest(request, { url: "/new", headers: { "x-a": "1" } });
      const native = new Request(nativeRequest(rewritten), { redirect: "manual" });
      return json([native.url, native.headers.get("x-a"), await native.text()]);
    });
    const response = await fetch(`${url}old`, { method: "POST", body: "body" });
    expect(await response.json()).toEqual([`${url}new`, "1", "body"]);
  });

  it("trap 2: a changed response keeps the fast path and its Content-Length", async () => {
    const stamp: Middleware = (next) => async (request, context) =>
      changeHeaders(await next(request, context), context, (headers) =>
        headers.set("x-stamp", "1"),
      );
    const { port } = await start(wrap(() => json({ a: 1 }), stamp, stamp));
    const answer = await exchange(port, "GET / HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n");
    expect(answer).toMatch(/content-length: 7\r\n/);
    expect(answer).toMatch(/x-stamp: 1\r\n/);
    expect(answer).not.toMatch(/transfer-encoding/i);
  });

  it("trap 3: immutable headers of a fetched response and a redirect can be changed", async () => {
    const origin = await start(() => text("fetched"));
    const stamp: Middleware = (next) => async (request, context) =>
      changeHeaders(await next(request, context), context, (headers) =>
        headers.set("x-stamp", "1"),
      );
    const fetched = await wrap(() => fetch(origin.url), stamp)(new Request("http://a/"));
    expect([fetched.headers.get("x-stamp"), fetched.url, await fetched.text()]).toEqual([
      "1",
      origin.url,
      "fetched",
    ]);
    const redirect = await wrap(
      () => Response.redirect("http://a/b"),
      stamp,
    )(new Request("http://a/"));
    expect([
      redirect.status,
      redirect.headers.get("location"),
      redirect.headers.get("x-stamp"),
    ]).toEqual([302, "http://a/b", "1"]);
  });

  it.each<[string, Response]>([
    ["new Response(null)", new Response(null, { status: 404 })],
    ["empty()", empty(404)],
    ["json()", json({ error: "not found" }, { status: 404 })],
  ])("trap 4: a shared %s carries no cookie from one client to another", async (_what, shared) => {
    let count = 0;
    const session: Middleware = (next) => async (request, context) => {
      const response = await next(request, context);
      count += 1;
      return count === 1
        ? changeHeaders(response, context, (headers) => headers.set("set-cookie", "session=first"))
        : changeHeaders(response, context, (headers) => headers.set("x-second", "1"));
    };
    const { url } = await start(wrap(() => shared, session));
    const first = await fetch(url);
    const second = await fetch(url);
    expect([first.status, second.status]).toEqual([404, 404]);
    expect(first.headers.getSetCookie()).toEqual(["session=first"]);
    expect(second.headers.getSetCookie()).toEqual([]);
    expect(second.headers.get("x-second")).toBe("1");
    expect(await second.text()).toBe(await first.text());
  });

  it("trap 4: a shared response that cannot be copied is rejected, not mixed up", async () => {
    const shared = Response.json({ private: true });
    const stamp: Middleware = (next) => async (request, context) =>
      changeHeaders(await next(request, context), context, (headers) =>
        headers.set("set-cookie", "a=1"),
      );
    const { url } = await start(wrap(() => shared, stamp));
    await fetch(url);
    const second = await fetch(url);
    expect([second.status, second.headers.getSetCookie()]).toEqual([500, []]);
  });

  it("trap 5: upgrades pass by identity, 1xx has its own way, TRACE reaches no handler", async () => {
    const upgrade = Object.defineProperty(new Response(null), "status", { value: 101 });
    const stamp: Middleware = (next) => async (request, context) =>
      changeHeaders(await next(request, context), context, (headers) =>
        headers.set("x-stamp", "1"),
      );
    expect(await wrap(() => upgrade, stamp)(new Request("http://a/"))).toBe(upgrade);

    let calls = 0;
    const { port } = await start((_request, context) => {
      calls += 1;
      writeEarlyHints(context, ["</a.css>; rel=preload"]);
      return text("ok");
    });
    const head = "HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n";
    expect(await exchange(port, `GET / ${head}`)).toMatch(/^HTTP\/1\.1 103 [^]*HTTP\/1\.1 200 /);
    expect(await exchange(port, `TRACE / ${head}`)).toMatch(/^HTTP\/1\.1 501 /);
    expect(calls).toBe(1);
  });

  it("trap 6: a middleware wraps a Node application and may change its headers", async () => {
    const app = express();
    app.get("/", (_request, response) => void response.type("text").send("from Express"));
    const stamp: Middleware = (next) => async (request, context) =>
      changeHeaders(await next(request, context), context, (headers) =>
        headers.delete("x-powered-by"),
      );
    const { url } = await start(wrap(fromNodeListener(app), stamp));
    const response = await fetch(url);
    expect([response.headers.has("x-powered-by"), await response.text()]).toEqual([
      false,
      "from Express",
    ]);
  });

  it("trap 7: the end comes after the body, not after the head", async () => {
    const log: string[] = [];
    const ended = Promise.withResolvers<FinishReport>();
    const release = Promise.withResolvers<void>();
    const observe: Middleware = (next) => async (request, context) => {
      context.onFinish((report) => {
        log.push("end");
        ended.resolve(report);
      });
      const response = await next(request, context);
      log.push("head");
      return response;
    };
    const body = (): ReadableStream<Uint8Array> =>
      new ReadableStream({
        async start(controller) {
          controller.enqueue(Buffer.from("first"));
          await release.promise;
          log.push("last chunk");
          controller.enqueue(Buffer.from("last"));
          controller.close();
        },
      });
    const { url } = await start(wrap(() => new Response(body()), observe));
    const response = await fetch(url);
    release.resolve();
    await response.text();
    expect(await ended.promise).toMatchObject({ bytes: 9, aborted: false });
    expect(log).toEqual(["head", "last chunk", "end"]);
  });

  it("trap 8: what the handler set wins, and Vary is merged", async () => {
    const defaults: Middleware = (next) => async (request, context) =>
      changeHeaders(await next(request, context), context, (headers) => {
        setDefault(headers, "cache-control", "no-store");
        setDefault(headers, "x-content-type-options", "nosniff");
        addVary(headers, "Origin", "accept-encoding");
      });
    const handler = wrap(
      () => text("", { headers: { "cache-control": "max-age=60", vary: "Accept-Encoding" } }),
      defaults,
    );
    const response = await handler(new Request("http://a/"));
    expect(response.headers.get("cache-control")).toBe("max-age=60");
    expect(response.headers.get("x-content-type-options")).toBe("nosniff");
    expect(response.headers.get("vary")).toBe("Accept-Encoding, Origin");
  });
});
