import { describe, expect, it } from "vitest";
import { shareRuns } from "../src/operations/find-page.ts";

/** Work whose runs end when they are told to. */
function openWork() {
  const runs: PromiseWithResolvers<number>[] = [];
  const ask = shareRuns(() => {
    const run = Promise.withResolvers<number>();
    runs.push(run);
    return run.promise;
  });
  return { runs, ask };
}

describe("shareRuns", () => {
  it("begins at once when nothing is under way", async () => {
    const { runs, ask } = openWork();
    const first = ask();
    runs[0]?.resolve(1);
    expect(await first).toBe(1);
    const second = ask();
    expect(runs).toHaveLength(2);
    runs[1]?.resolve(2);
    expect(await second).toBe(2);
  });

  it("answers those who ask in the meantime by one run that begins afterwards", async () => {
    const { runs, ask } = openWork();
    const first = ask();
    const others = [ask(), ask(), ask()];
    expect(runs).toHaveLength(1);
    runs[0]?.resolve(1);
    expect(await first).toBe(1);
    await expect.poll(() => runs.length).toBe(2);
    const last = ask();
    runs[1]?.resolve(2);
    expect(await Promise.all(others)).toEqual([2, 2, 2]);
    await expect.poll(() => runs.length).toBe(3);
    runs[2]?.resolve(3);
    expect(await last).toBe(3);
  });

  it("never answers with what was so before it was asked", async () => {
    let value = 0;
    const ask = shareRuns(async () => {
      const read = value;
      await Promise.resolve();
      return read;
    });
    for (let expected = 1; expected <= 50; expected += 1) {
      void ask();
      value = expected;
      expect(await ask()).toBe(expected);
    }
  });

  it("fails for all who share the run, and begins again", async () => {
    const { runs, ask } = openWork();
    const first = ask();
    const others = [ask(), ask()];
    runs[0]?.reject(new Error("first"));
    await expect(first).rejects.toThrow("first");
    await expect.poll(() => runs.length).toBe(2);
    runs[1]?.reject(new Error("second"));
    for (const other of others) await expect(other).rejects.toThrow("second");
    const later = ask();
    runs[2]?.resolve(3);
    expect(await later).toBe(3);
  });
});
