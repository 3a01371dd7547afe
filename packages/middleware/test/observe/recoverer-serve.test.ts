import { json, wrap, type Handler } from "@fetchwork/http";
import { serve } from "@fetchwork/http/serve";
import { describe, expect, it, onTestFinished, vi } from "vitest";
import { ABORT_HANDLER, decodeJSON, parseFromTo, recoverer, sizeLimit } from "../../src/index.ts";

it("ABORT_HANDLER closes the connection under serve, and is not reported", async () => {
  const reportError = vi.fn();
  const log = vi.fn();
  const handler = wrap(() => Promise.reject(ABORT_HANDLER), recoverer({ log }));
  const options = { port: 0, hostname: "127.0.0.1", signals: false, reportError };
  const server = await serve(handler, options);
  onTestFinished(() => server.close({ gracePeriod: 0 }));
  await expect(fetch(server.url)).rejects.toThrow("fetch failed");
  expect(reportError).not.toHaveBeenCalled();
  expect(log).not.toHaveBeenCalled();
});

describe("what a handler throws about bad input", () => {
  const decode: Handler = async (request) => json({ is: await decodeJSON(request) });
  const span: Handler = (request) => json(parseFromTo(request));
  const own: Handler = () => {
    throw Object.assign(new Error("out of tea"), { status: 418, expose: true });
  };
  const upstream: Handler = () => {
    throw Object.assign(new Error("the upstream's secret"), { status: 404, statusCode: 404 });
  };
  const post = (body: string): RequestInit => ({ method: "POST", body });

  it.each<[string, Handler, RequestInit, [number, string]]>([
    ["a malformed body", decode, post("{"), [400, "decode json: the body is not JSON"]],
    [
      "a body of 2 MB",
      decode,
      post(JSON.stringify("x".repeat(2_000_000))),
      [413, "decode json: the body is larger than 1048576 bytes"],
    ],
    ["a bad date", span, {}, [400, 'incorrect from time: can\'t parse date ""']],
    ["an error of the user's own with expose: true", own, {}, [418, "out of tea"]],
  ])("is a response and no record: %s", async (_case, handler, init, [status, message]) => {
    for (const layers of [[], ["recoverer"]]) {
      const log = vi.fn();
      const reportError = vi.fn();
      const around = layers.map(() => recoverer({ log, respond: () => json("hidden") }));
      const options = { port: 0, hostname: "127.0.0.1", signals: false, reportError };
      const server = await serve(wrap(handler, ...around), options);
      onTestFinished(() => server.close({ gracePeriod: 0 }));
      const response = await fetch(server.url, init);
      expect([layers, response.status]).toEqual([layers, status]);
      expect(response.headers.get("content-type")).toBe("application/json");
      expect(await response.json()).toMatchObject({ error: message });
      expect(log).not.toHaveBeenCalled();
      expect(reportError).not.toHaveBeenCalled();
    }
  });

  it("is 413 without a record when a body is too large for sizeLimit() in stream mode", async () => {
    const log = vi.fn();
    const handler = wrap(decode, recoverer({ log }), sizeLimit(10, { mode: "stream" }));
    const server = await serve(handler, { port: 0, hostname: "127.0.0.1", signals: false });
    onTestFinished(() => server.close({ gracePeriod: 0 }));
    const body = new Blob(["[1,2,3,4,5,6,7,8]"]).stream();
    const init: RequestInit & { duplex: "half" } = { method: "POST", body, duplex: "half" };
    expect((await fetch(server.url, init)).status).toBe(413);
    expect(log).not.toHaveBeenCalled();
  });

  it("is 500 with a record when the error comes from a client and has a status", async () => {
    const log = vi.fn();
    const handler = wrap(upstream, recoverer({ log }));
    const server = await serve(handler, { port: 0, hostname: "127.0.0.1", signals: false });
    onTestFinished(() => server.close({ gracePeriod: 0 }));
    const response = await fetch(server.url);
    expect([response.status, await response.text()]).toEqual([500, "Internal Server Error\n"]);
    expect(log).toHaveBeenCalledTimes(2);
  });
});
