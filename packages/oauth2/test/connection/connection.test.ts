import { getEventListeners, once } from "node:events";
import http from "node:http";
import type { AddressInfo, Socket } from "node:net";
import { gzipSync } from "node:zlib";
import { afterEach, beforeEach, describe, expect, it, onTestFinished, vi } from "vitest";
import { OAuth2ConnectionError, OAuth2Client, OAuth2TimeoutError } from "../../src/index.ts";

let server: http.Server;
let site: string;

beforeEach(async () => {
  server = http.createServer((request, response) => {
    if (request.url !== "/never") response.end("answer");
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const address: AddressInfo | string | null = server.address();
  site = typeof address === "object" ? `http://127.0.0.1:${address?.port}` : "";
});

afterEach(() => {
  server.closeAllConnections();
  server.close();
});

describe("a connection without a limit of time", () => {
  const clientOf = (): OAuth2Client =>
    new OAuth2Client("id", "secret", { site, connectionOpts: { timeout: 0 } });

  it("returns the answer", async () => {
    expect((await clientOf().request("get", "/")).body).toBe("answer");
  });

  it("gives up when the caller's signal is aborted, and closes the connection", async () => {
    const controller = new AbortController();
    const seen = once(server, "request");
    const answer = clientOf().request("get", "/never", { signal: controller.signal });
    const [request] = await seen;
    const closed = once(request.socket, "close");
    controller.abort(new Error("enough"));
    await expect(answer).rejects.toThrow("enough");
    await closed;
  });

  it("tells of a connection that breaks", async () => {
    server.on("request", (request) => request.socket.destroy());
    await expect(clientOf().request("get", "/never")).rejects.toThrow(OAuth2ConnectionError);
  });
});

describe("a connection with a limit of time", () => {
  const clientOf = (timeout: number): OAuth2Client =>
    new OAuth2Client("id", "secret", { site, connectionOpts: { timeout } });

  it("closes the connection to a server that does not answer in time", async () => {
    const seen = once(server, "request");
    const answer = clientOf(50).request("get", "/never");
    const outcome = answer.catch((error: unknown) => error);
    const [request] = await seen;
    const closed = once(request.socket, "close");
    expect(await outcome).toBeInstanceOf(OAuth2TimeoutError);
    await closed;
  });

  it("closes the connection to a server that begins an answer and does not end it in time", async () => {
    server.on("request", (_request, response) => {
      response.writeHead(200, { "content-length": "100" });
      response.write("half");
    });
    const seen = once(server, "request");
    const answer = clientOf(50).request("get", "/never");
    const outcome = answer.catch((error: unknown) => error);
    const [request] = await seen;
    const closed = once(request.socket, "close");
    expect(await outcome).toBeInstanceOf(OAuth2TimeoutError);
    await closed;
  });

  it.each([
    ["of a known length", 200, ["answer"], {}],
    ["in pieces", 200, ["piece ", "piece ", "end"], {}],
    ["that is compressed", 200, [gzipSync("answer")], { "content-encoding": "gzip" }],
    ["that is empty", 204, [], {}],
    ["that is not modified", 304, [], {}],
  ] as const)("ends no connection after an answer %s", async (_what, status, pieces, head) => {
    server.removeAllListeners("request");
    server.on("request", (_request, response) => {
      response.writeHead(status, head);
      for (const piece of pieces) response.write(piece);
      response.end();
    });
    const opened = new Set<Socket>();
    const closed: Socket[] = [];
    server.on("connection", (socket: Socket) => {
      opened.add(socket);
      socket.on("close", () => closed.push(socket));
    });
    const client = clientOf(30_000);
    for (let count = 0; count < 30; count += 1) {
      expect((await client.request("get", "/")).status).toBe(status);
    }
    expect(closed).toEqual([]);
    // The platform opens a second one where the first is not free in the same turn.
    expect(opened.size).toBeLessThanOrEqual(2);
  });

  it("does not abort the request of a fetch that is given when the answer is there", async () => {
    const requests: Request[] = [];
    const client = new OAuth2Client("id", "secret", {
      site,
      fetch: (request) => {
        requests.push(request);
        return fetch(request);
      },
    });
    await client.request("get", "/");
    expect(requests.map(({ signal }) => signal.aborted)).toEqual([false]);
  });

  it.each([
    ["an answer", "/", undefined],
    ["a connection that breaks", "/never", "break"],
    ["a caller who leaves", "/never", "leave"],
  ])("leaves no timer and no listener behind after %s", async (_what, path, end) => {
    const timers = new Set<unknown>();
    const { setTimeout: set, clearTimeout: clear } = globalThis;
    const limit = 987_654;
    vi.stubGlobal("setTimeout", (work: () => void, time?: number) => {
      const timer = set(work, time);
      if (time === limit) timers.add(timer);
      return timer;
    });
    vi.stubGlobal("clearTimeout", (timer: NodeJS.Timeout) => {
      timers.delete(timer);
      clear(timer);
    });
    onTestFinished(() => {
      vi.unstubAllGlobals();
    });
    const controller = new AbortController();
    server.on("request", (request) => {
      expect(timers.size).toBe(1);
      expect(getEventListeners(controller.signal, "abort")).toHaveLength(1);
      if (end === "break") request.socket.destroy();
      if (end === "leave") controller.abort(new Error("enough"));
    });
    const { signal } = controller;
    const answer = clientOf(limit).request("get", path, { signal });
    const [outcome] = await Promise.allSettled([answer]);
    expect(outcome.status).toBe(end === undefined ? "fulfilled" : "rejected");
    expect(timers.size).toBe(0);
    expect(getEventListeners(signal, "abort")).toHaveLength(0);
  });
});
