import { text, wrap } from "@fetchwork/http";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { compress, logger } from "../src/index.ts";

// What tells a worker of Cloudflare; `npm run test:runtimes` runs a whole chain on workerd itself.
beforeEach(() => {
  vi.stubGlobal("navigator", { userAgent: "Cloudflare-Workers" });
});
afterEach(() => {
  vi.unstubAllGlobals();
});

describe("on Workers", () => {
  it("marks a body as gzip and leaves the encoding to the runtime, which would encode it twice", async () => {
    const handler = wrap(() => text("plain ".repeat(1000)), compress());
    const headers = { "accept-encoding": "zstd, br, gzip" };
    const response = await handler(new Request("http://localhost/", { headers }));
    expect(response.headers.get("content-encoding")).toBe("gzip");
    expect(response.headers.get("vary")).toBe("Accept-Encoding");
    expect(response.headers.has("content-length")).toBe(false);
    expect(await response.text()).toBe("plain ".repeat(1000));
  });

  it("does not mark a body for clients that do not accept gzip", async () => {
    const handler = wrap(() => text("plain ".repeat(1000)), compress());
    const headers = { "accept-encoding": "zstd, br" };
    const response = await handler(new Request("http://localhost/", { headers }));
    expect(response.headers.get("content-encoding")).toBe(null);
  });

  it("writes a line without a timer, which would end with its request", async () => {
    const timers = [vi.spyOn(globalThis, "setImmediate"), vi.spyOn(globalThis, "setTimeout")];
    const lines: string[] = [];
    const handler = wrap(
      () => new Response("fine"),
      logger({ format: "json", sink: (line) => void lines.push(line) }),
    );
    await (await handler(new Request("http://localhost/"))).text();
    await Promise.resolve();
    expect(lines).toHaveLength(1);
    for (const timer of timers) {
      expect(timer).not.toHaveBeenCalled();
      timer.mockRestore();
    }
  });
});
