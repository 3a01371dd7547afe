import { parseArgs } from "node:util";
import { describe, expect, it } from "vitest";
import {
  agentOptions,
  checkWork,
  limitOptions,
  recordedWork,
  workOptions,
} from "../../src/agent/work-options.ts";
import type { ChosenModel } from "../../src/agent/model-options.ts";

const chosen: ChosenModel = {
  provider: { id: "none", async *generate() {} },
  model: undefined,
  temperature: undefined,
  modelName: "scripted",
  replayed: {},
};

function optionsOf(...args: readonly string[]): ReturnType<typeof agentOptions> {
  const { values } = parseArgs({ args: [...args], options: { ...workOptions, ...limitOptions } });
  return agentOptions(checkWork(values), chosen);
}

describe("agentOptions", () => {
  it.each([
    ["--max-cost=1", "--max-cost requires the price of the model"],
    ["--max-cost=0", "above 0"],
    ["--max-cost=-1", "above 0"],
    ["--max-cost=ten", "above 0"],
    ["--price=1", "expected [model=]in,out"],
    ["--price=1,2,3,4", "expected [model=]in,out"],
    ["--price=1,.", "expected [model=]in,out"],
    ["--max-tokens=0", "a whole number from 1"],
    ["--max-tokens=1e6", "a whole number from 1"],
    ["--max-time=0", "--max-time must be a duration"],
    ["--max-time=5d", "--max-time must be a duration"],
    ["--max-time=99999h", "--max-time must be a duration"],
    ["--concurrency=0", "a whole number from 1 to 256"],
    ["--repair=-1", "a whole number from 0"],
    ["--on-conflict=delete", "--on-conflict must be one of merge, keep, overwrite, fail"],
  ])("refuses %s", (argument, message) => {
    expect(() => optionsOf(argument)).toThrow(message);
  });

  it("refuses a blank command before a model is chosen", () => {
    expect(() => checkWork({ check: [" "] })).toThrow("command must be a text");
  });

  it.each([
    ["90", 90_000],
    ["90s", 90_000],
    ["1.5m", 90_000],
    ["2h", 7_200_000],
  ])("reads the time %s", (value, maxTime) => {
    expect(optionsOf(`--max-time=${value}`).budget).toMatchObject({ maxTime });
  });

  it("applies a price to every model or to the named one", () => {
    const { budget } = optionsOf("--price=1,2", "--plan-model=big", "--price=big=5,10.5,0.5");
    expect(budget?.prices).toEqual({
      scripted: { input: 1, output: 2, cachedInput: 1 },
      big: { input: 5, output: 10.5, cachedInput: 0.5 },
    });
    expect(() => optionsOf("--max-cost=1", "--price=scripted=1,2", "--repair-model=b")).toThrow(
      "--max-cost requires the price of b",
    );
  });

  it("fetches packages from the registry of --packages", () => {
    const other = { registry: "https://npm.example/" };
    expect(optionsOf("--packages=https://npm.example/").sandbox).toEqual(other);
  });

  it("leaves the sandbox only with --unsafe", () => {
    expect(optionsOf("--verify=true").sandbox).toBeUndefined();
    expect(optionsOf("--verify=true", "--unsafe").sandbox).toEqual({ level: "process" });
  });

  it("runs the program only with --verify or --check", () => {
    expect(optionsOf().verifiers).toBeUndefined();
    expect(optionsOf("--verify=false").verifiers).toBeUndefined();
    expect(optionsOf("--verify=true").verifiers?.map(({ name }) => name)).toContain("node --test");
    const checks = optionsOf("--check=make check", "--check=make lint").verifiers ?? [];
    expect(checks.map(({ name }) => name)).toContain("node --test");
    expect(checks.slice(-2).map(({ name }) => name)).toEqual(["make check", "make lint"]);
  });

  it("uses the options of a replayed run as defaults", () => {
    const args = ["--verify=true", "--repair=4", "--plan-model=big"];
    const replayed = recordedWork(
      parseArgs({ args, options: { ...workOptions, ...limitOptions } }).values,
    );
    expect(replayed).toEqual({ verify: true, repair: 4, planModel: "big" });
    expect(agentOptions(checkWork({}), { ...chosen, replayed })).toMatchObject({
      repair: 4,
      planModel: "big",
    });
    expect(agentOptions(checkWork({ repair: "1" }), { ...chosen, replayed })).toMatchObject({
      repair: 1,
    });
  });
});
