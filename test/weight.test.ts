import { describe, expect, it } from "vitest";
import { weighPackages } from "../scripts/weight.ts";

/**
 * The maximum of each package: lines by folder, exported names, and fields of exported options. A
 * number rises only in a change that says which feature asked for it, and by no more than that
 * feature.
 */
const budgets: Readonly<Record<string, Budget>> = {
  agent: { lines: { src: 18_448, assets: 1_200 }, names: 103, options: 60 },
  "create-fetchwork": { lines: {}, names: 0, options: 0 },
  documents: { lines: { src: 21_454 }, names: 68, options: 48 },
  endpoint: { lines: { src: 1_788 }, names: 25, options: 21 },
  fetchwork: { lines: { src: 9_171, templates: 25 }, names: 15, options: 0 },
  http: { lines: { src: 10_412 }, names: 97, options: 71 },
  kit: { lines: { src: 1_389 }, names: 55, options: 3 },
  middleware: { lines: { src: 10_231 }, names: 142, options: 127 },
  oauth2: { lines: { src: 10_300 }, names: 95, options: 92 },
  rest: { lines: { src: 16_497, assets: 191 }, names: 143, options: 79 },
  service: { lines: { src: 4_469 }, names: 43, options: 61 },
  verify: { lines: { src: 3_000 }, names: 15, options: 6 },
  webhooks: { lines: { src: 8_161, assets: 868 }, names: 91, options: 60 },
};

interface Budget {
  readonly lines: Readonly<Record<string, number>>;
  readonly names: number;
  readonly options: number;
}

const weights = weighPackages();

it("every package has a budget", () => {
  expect([...weights.keys()].toSorted()).toEqual(Object.keys(budgets).toSorted());
});

describe.each([...weights])("the package %s", (name, weight) => {
  const budget = budgets[name];

  it("has no more lines than its budget, in folders that have one", () => {
    expect(Object.keys(weight.lines).toSorted()).toEqual(
      Object.keys(budget?.lines ?? {}).toSorted(),
    );
    const heavy = Object.entries(weight.lines).filter(
      ([folder, count]) => count > (budget?.lines[folder] ?? 0),
    );
    expect(heavy).toEqual([]);
  });

  it("has no more exported names and options than its budget", () => {
    expect(weight.names).toBeLessThanOrEqual(budget?.names ?? 0);
    expect(weight.options).toBeLessThanOrEqual(budget?.options ?? 0);
  });
});

it("no budget is more than a tenth above what there is", () => {
  const loose = [...weights].flatMap(([name, { lines }]) =>
    Object.entries(lines).filter(
      ([folder, count]) => (budgets[name]?.lines[folder] ?? 0) > count * 1.1,
    ),
  );
  expect(loose).toEqual([]);
});
