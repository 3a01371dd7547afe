import { createContext, text, wrap } from "@fetchwork/http";
import { describe, expect, it, vi } from "vitest";
import { health, type HealthOptions } from "../../src/observe/health.ts";

async function ask(
  options: HealthOptions,
  { method = "GET", path = "/health" } = {},
): Promise<[number, string | null, string]> {
  const handler = wrap(() => text("next"), health(options));
  const response = await handler(new Request(`http://localhost${path}`, { method }));
  return [response.status, response.headers.get("content-type"), await response.text()];
}

const wordless = Object.assign(new Error("x"), { message: "" });
const passes = { name: "check1", check: () => undefined };
const fails = {
  name: "check2",
  check: () => {
    throw new Error("some error");
  },
};
const json = "application/json; charset=utf-8";

describe("health", () => {
  it.each<[string, HealthOptions]>([
    ["a path without a slash", { path: "health" }],
    ["a check without a name", { checks: [{ name: "", check: () => 1 }] }],
    ["a timeout of nothing", { timeout: 0 }],
    ["a timeout of a check that is not a number", { checks: [{ ...passes, timeout: Number.NaN }] }],
  ])("refuses %s", (_, options) => {
    expect(() => health(options)).toThrow(
      expect.objectContaining({ code: "ERR_MIDDLEWARE_OPTION" }),
    );
  });

  it.each<[string, HealthOptions, number, string]>([
    // Research A2.
    ["all pass", { checks: [passes] }, 200, '[{"name":"check1","status":"ok"}]\n'],
    [
      "one fails, and runs the others",
      { checks: [fails, passes] },
      503,
      '[{"name":"check2","status":"failed","error":"some error"},{"name":"check1","status":"ok"}]\n',
    ],
    [
      "one fails without a word",
      { checks: [{ name: "a", check: () => Promise.reject(wordless) }] },
      503,
      '[{"name":"a","status":"failed"}]\n',
    ],
    ["there is none", {}, 200, "[]\n"],
    [
      "they run in parallel",
      { checks: [passes, fails], parallel: true },
      503,
      '[{"name":"check1","status":"ok"},{"name":"check2","status":"failed","error":"some error"}]\n',
    ],
  ])("responds when %s", async (_, options, status, body) => {
    expect(await ask(options)).toEqual([status, json, body]);
  });

  it.each([
    // Research A2; HEAD is answered (its trap), with what a GET has.
    ["HEAD", "/health", ""],
    ["GET", "/HEALTH", "[]\n"],
    ["GET", "/healt%68?x", "[]\n"],
    ["POST", "/health", "next"],
    ["GET", "/v2/health", "next"],
    ["GET", "/health/", "next"],
  ])("responds to %s %s with %j", async (method, path, body) => {
    expect((await ask({}, { method, path }))[2]).toBe(body);
  });

  it("runs checks one after the other, and in parallel with the option", async () => {
    const log: string[] = [];
    const slow = (name: string) => ({
      name,
      check: async () => {
        log.push(`${name} starts`);
        await Promise.resolve();
        await Promise.resolve();
        log.push(`${name} ends`);
      },
    });
    await ask({ checks: [slow("a"), slow("b")] });
    expect(log).toEqual(["a starts", "a ends", "b starts", "b ends"]);
    log.length = 0;
    await ask({ checks: [slow("a"), slow("b")], parallel: true });
    expect(log).toEqual(["a starts", "b starts", "a ends", "b ends"]);
  });

  it("fails a check that takes too long, and aborts its signal", async () => {
    vi.useFakeTimers();
    try {
      let seen: AbortSignal | undefined;
      const check = (signal: AbortSignal) => {
        seen = signal;
        return new Promise(() => undefined);
      };
      const received = ask({ checks: [{ name: "a", check, timeout: 50 }] });
      await vi.advanceTimersByTimeAsync(50);
      const error = "not finished after 50 ms";
      expect(JSON.parse((await received)[2])).toEqual([{ name: "a", status: "failed", error }]);
      expect(seen?.aborted).toBe(true);
      expect(vi.getTimerCount()).toBe(0);
    } finally {
      vi.useRealTimers();
    }
  });

  it("aborts the signal of a check when the client has left", async () => {
    const asker = new AbortController();
    const request = new Request("http://localhost/health");
    const context = createContext(request, { signal: asker.signal });
    const check = (signal: AbortSignal) =>
      new Promise((_, reject) => {
        signal.addEventListener("abort", () => reject(new Error("gone")));
        asker.abort();
      });
    const handler = health({ checks: [{ name: "a", check }] })(() => text("next"));
    expect(await (await handler(request, context)).json()).toEqual([
      { name: "a", status: "failed", error: "gone" },
    ]);
  });
});
