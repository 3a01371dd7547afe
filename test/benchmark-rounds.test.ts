import { describe, expect, it } from "vitest";
import { interleave, type Sample } from "../bench/harness/interleave.ts";
import { readSettings } from "../bench/harness/settings.ts";
import { quantile, rangeOf, ratiosOf, spreadOf, uncertainty } from "../bench/harness/statistics.ts";

const untold = { rounds: undefined, isQuick: false };

/** Returns values in turn, and notes who was asked. */
function contest(valuesOf: Readonly<Record<string, readonly number[]>>) {
  const asked: string[] = [];
  const counts = new Map<string, number>();
  return {
    asked,
    names: Object.keys(valuesOf),
    seconds: 60,
    measure(name: string, { isWarmUp }: { readonly isWarmUp: boolean }): Sample {
      asked.push(isWarmUp ? `(${name})` : name);
      const count = counts.get(name) ?? 0;
      if (!isWarmUp) counts.set(name, count + 1);
      const values = valuesOf[name] ?? [];
      return { value: values[count % values.length] ?? Number.NaN };
    },
  };
}

describe("interleave", () => {
  it("runs the subjects in another order each round, and backwards every other time", async () => {
    const { asked, ...rest } = contest({ a: [1], b: [1], c: [1] });
    await interleave(rest, { rounds: 3, isQuick: false });
    expect(asked.join(" ")).toBe("(a) (b) (c) a c b c a b c b a");
  });

  it("does not count the warm-up rounds", async () => {
    const samples = await interleave(
      { ...contest({ a: [1, 2], b: [3, 4] }), warmUp: 4 },
      { rounds: 2, isQuick: false },
    );
    expect(samples.get("a")?.map(({ value }) => value)).toEqual([1, 2]);
    expect(samples.get("b")?.map(({ value }) => value)).toEqual([3, 4]);
  });

  it("stops after the minimum number of rounds if the ratios hardly differ", async () => {
    const samples = await interleave(contest({ a: [10], b: [20] }), untold);
    expect(samples.get("a")).toHaveLength(5);
  });

  it("continues while the ratios differ, up to 60 rounds", async () => {
    const samples = await interleave(contest({ a: [10, 30], b: [20] }), untold);
    expect(samples.get("b")).toHaveLength(60);
  });

  it("stops when the time is up, but not before the minimum number of rounds", async () => {
    const samples = await interleave(
      { ...contest({ a: [10, 30], b: [20] }), seconds: 0, least: 7 },
      untold,
    );
    expect(samples.get("b")).toHaveLength(7);
  });

  it("stops after three rounds in a quick run", async () => {
    const samples = await interleave(contest({ a: [10], b: [20] }), { ...untold, isQuick: true });
    expect(samples.get("a")).toHaveLength(3);
  });

  it("skips a subject that cannot do the work", async () => {
    const samples = await interleave(
      {
        names: ["a", "b"],
        seconds: 1,
        measure: (name) => (name === "a" ? { value: 1 } : undefined),
      },
      { rounds: 2, isQuick: false },
    );
    expect([...samples.keys()]).toEqual(["a"]);
  });
});

describe("statistics", () => {
  it("finds quantiles between values in proportion", () => {
    expect(quantile([4, 1, 3, 2], 0.5)).toBe(2.5);
    expect(spreadOf([1, 2, 3, 4, 5])).toEqual({ median: 3, low: 2, high: 4 });
    expect(spreadOf([7])).toEqual({ median: 7, low: 7, high: 7 });
    expect(rangeOf([5, 1, 2, 4, 3])).toEqual({ median: 3, low: 1, high: 5 });
  });

  it("divides ours by theirs round by round", () => {
    expect(ratiosOf([1, 4], [2, 2])).toEqual([0.5, 2]);
    expect(ratiosOf([1, 4], [2])).toEqual([0.5]);
  });

  it("estimates the median more precisely after more rounds", () => {
    const few = [1, 2, 3, 4];
    expect(uncertainty([...few, ...few, ...few, ...few])).toBeLessThan(uncertainty(few));
    expect(uncertainty([5, 5, 5])).toBe(0);
  });
});

describe("readSettings", () => {
  it("accepts the number of rounds as the first argument or by name", () => {
    expect(readSettings(["9", "fetchwork,express"])).toEqual({
      rounds: 9,
      isQuick: false,
      file: undefined,
      others: ["fetchwork,express"],
    });
    expect(readSettings(["--rounds", "3", "--quick", "--json", "a.json"])).toEqual({
      rounds: 3,
      isQuick: true,
      file: "a.json",
      others: [],
    });
  });

  it.each(["0", "-1", "1.5", "many"])("rejects %s as the number of rounds", (rounds) => {
    expect(() => readSettings([`--rounds=${rounds}`])).toThrow(TypeError);
  });

  it("rejects an unknown argument", () => {
    expect(() => readSettings(["--fast"])).toThrow("--fast");
  });
});
