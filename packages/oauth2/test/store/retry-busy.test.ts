import { describe, expect, it, vi } from "vitest";
import { retryBusy } from "../../src/node/retry-busy.ts";

/** Fails some times as a file does that is open elsewhere. */
function failing(times: number, code = "EPERM") {
  let left = times;
  return vi.fn<() => Promise<string>>(() =>
    left-- > 0 ? Promise.reject(Object.assign(new Error(code), { code })) : Promise.resolve("done"),
  );
}

describe("retryBusy", () => {
  it.each(["EPERM", "EACCES", "EBUSY"])("tries again after %s on Windows", async (code) => {
    const change = failing(2, code);
    await expect(retryBusy(change, "win32")).resolves.toBe("done");
    expect(change).toHaveBeenCalledTimes(3);
  });

  it("does not try again after another error, or on another system", async () => {
    const [missing, denied] = [failing(1, "ENOENT"), failing(1)];
    await expect(retryBusy(missing, "win32")).rejects.toThrow("ENOENT");
    await expect(retryBusy(denied, "linux")).rejects.toThrow("EPERM");
    expect([missing, denied].map(({ mock }) => mock.calls.length)).toEqual([1, 1]);
  });

  it("gives up after a second", async () => {
    const change = failing(Infinity);
    await expect(retryBusy(change, "win32")).rejects.toThrow("EPERM");
    expect(change).toHaveBeenCalledTimes(51);
  });
});
