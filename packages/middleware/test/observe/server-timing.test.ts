import { createContext, text, wrap, type Handler } from "@fetchwork/http";
import { describe, expect, it } from "vitest";
import {
  addServerTiming,
  serverTiming,
  startServerTiming,
  type ServerTimingOptions,
} from "../../src/index.ts";

const request = (): Request => new Request("http://localhost/");

async function timingsOf(handler: Handler, options?: ServerTimingOptions): Promise<string | null> {
  return (await wrap(handler, serverTiming(options))(request())).headers.get("server-timing");
}

describe("serverTiming refuses", () => {
  it.each([{ total: 1 }, { when: true }])("%s", (options) => {
    expect(() => serverTiming(options as unknown as ServerTimingOptions)).toThrow(
      expect.objectContaining({ code: "ERR_MIDDLEWARE_OPTION" }),
    );
  });

  it("a name that is not a token, and a duration that is not a number", () => {
    const context = createContext(request());
    for (const name of ["", "a b", "a,b", "a\r\nb", "ü"]) {
      expect(() => addServerTiming(context, name)).toThrow(/name must be a token, got/);
      expect(() => startServerTiming(context, name)).toThrow(/name must be a token, got/);
    }
    expect(() => addServerTiming(context, "a", { duration: Number.NaN })).toThrow(
      /duration must be .*, got NaN/,
    );
  });
});

describe("serverTiming", () => {
  it("sends the time until the head", async () => {
    expect(await timingsOf(() => text("x"))).toMatch(/^total;dur=\d+(\.\d{1,3})?$/);
    expect(await timingsOf(async () => text("x"))).toMatch(/^total;dur=/);
  });

  it("sends what was measured, in order, after what the handler sends", async () => {
    const handler: Handler = (_request, context) => {
      addServerTiming(context, "cache", { description: 'hit "a"\\\r\nü' });
      startServerTiming(context, "db", "rows")();
      addServerTiming(context, "x", { duration: 1.23456 });
      addServerTiming(context, "miss");
      return text("x", { headers: { "server-timing": "own" } });
    };
    expect(await timingsOf(handler, { total: false })).toMatch(
      /^own, cache;desc="hit \\"a\\"\\\\\?\?\?", db;desc="rows";dur=[\d.]+, x;dur=1\.235, miss$/,
    );
  });

  it("sends nothing without measurements, and nothing to excluded clients", async () => {
    expect(await timingsOf(() => text("x"), { total: false })).toBeNull();
    expect(await timingsOf(() => text("x"), { when: () => false })).toBeNull();
    expect(await timingsOf(() => text("x"), { when: async () => true })).toMatch(/^total/);
    const handler: Handler = (_request, context) => {
      addServerTiming(context, "a");
      return text("x");
    };
    expect(await timingsOf(handler, { when: async () => false })).toBeNull();
    expect(await wrap(handler)(request())).toBeInstanceOf(Response);
  });
});
