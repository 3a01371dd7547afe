import { describe, expect, it } from "vitest";
import { weighPackages } from "../scripts/weight.ts";

/**
 * The maximum of each package: lines by folder, exported names, and fields of exported options. A number rises only in a
 * change that says which feature asked for it, and by no more than that feature.
 */
const budgets: Readonly<Record<string, Budget>> = {
  agent: { lines: { src: 19_468, assets: 1_192 }, names: 151, options: 102 },
  "create-fetchwork": { lines: {}, names: 0, options: 0 },
  documents: { lines: { src: 21_905 }, names: 88, options: 64 },
  endpoint: { lines: { src: 1_775 }, names: 41, options: 23 },
  fetchwork: { lines: { src: 10_072, templates: 25 }, names: 17, options: 2 },
  http: { lines: { src: 10_736 }, names: 120, options: 81 },
  kit: { lines: { src: 1_367 }, names: 58, options: 10 },
  middleware: { lines: { src: 10_222 }, names: 150, options: 129 },
  oauth2: { lines: { src: 10_748 }, names: 123, options: 138 },
  rest: { lines: { src: 16_885, assets: 186 }, names: 149, options: 97 },
  service: { lines: { src: 4_281 }, names: 45, options: 59 },
  verify: { lines: { src: 3_216 }, names: 16, options: 6 },
  webhooks: { lines: { src: 8_608, assets: 864 }, names: 116, options: 75 },
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
