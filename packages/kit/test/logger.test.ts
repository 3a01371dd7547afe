import { describe, expect, it, vi } from "vitest";
import { guardLogger } from "../src/logger.ts";

function recorder() {
  const entries: unknown[][] = [];
  const write = (...entry: unknown[]): void => void entries.push(entry);
  return { logger: { debug: write, info: write, warn: write, error: write }, entries };
}

describe("guardLogger", () => {
  it("calls the methods of the logger as methods, and the defaults for missing ones", () => {
    const { logger: defaults, entries } = recorder();
    const debug = vi.fn<(this: unknown, message: unknown) => void>();
    const logger = { debug };
    const guarded = guardLogger(logger, defaults);
    guarded.debug("a", 1);
    guarded.warn("b", 2);
    expect(debug).toHaveBeenCalledWith("a", 1);
    expect(debug.mock.contexts).toEqual([logger]);
    expect(entries).toEqual([["b", 2]]);
    expect(Reflect.get(guarded, "info")).toBe(defaults.info);
  });

  it("drops what a method throws or rejects with", async () => {
    const { logger: defaults } = recorder();
    const reject = (): unknown => Promise.reject(new Error("disk full"));
    const guarded = guardLogger(
      {
        debug: () => {
          throw new Error("disk full");
        },
        warn: reject,
      },
      defaults,
    );
    expect(() => guarded.debug("a")).not.toThrow();
    guarded.warn("b");
    await new Promise((resolve) => setImmediate(resolve));
  });
});
