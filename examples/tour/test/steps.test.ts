import { expect, it } from "vitest";
import { goThrough, type Steps } from "../src/steps.ts";

interface Walk {
  readonly code: number;
  readonly lines: readonly string[];
  readonly failures: readonly string[];
}

async function walk(tour: (steps: Steps) => Promise<void>): Promise<Walk> {
  const lines: string[] = [];
  const failures: string[] = [];
  const code = await goThrough(tour, {
    log: (line) => lines.push(line),
    fail: (line) => failures.push(line),
  });
  return { code, lines, failures };
}

it("the tour ends at the first surprise with 1 and one line that names the step", async () => {
  const { code, lines, failures } = await walk(async ({ step }) => {
    await step("first", () => 1);
    await step("second", () => {
      throw new Error("a\nb\u001B[31m c");
    });
    await step("third", () => 3);
  });
  expect([code, failures]).toEqual([1, ['surprise at "second": a b c']]);
  expect(lines).toEqual([expect.stringMatching(/^ +\d+ ms {2}first$/)]);
});

it("the tour ends what was started in the opposite order, also after a surprise", async () => {
  const ended: number[] = [];
  const { code } = await walk(async ({ step, atEnd }) => {
    atEnd(() => ended.push(1));
    atEnd(async () => ended.push(2));
    await step("fails", () => Promise.reject(new Error("no")));
  });
  expect([code, ended]).toEqual([1, [2, 1]]);
});

it("the tour counts what cannot be ended as a surprise, and ends the rest", async () => {
  const ended: number[] = [];
  const { code, failures } = await walk(async ({ step, atEnd }) => {
    atEnd(() => ended.push(1));
    atEnd(() => Promise.reject(new Error("stuck")));
    await step("works", () => undefined);
  });
  expect([code, ended, failures]).toEqual([1, [1], ['surprise at "works": stuck']]);
});

it("the tour returns the result of a step, and 0 when nothing surprises", async () => {
  let given: number | undefined;
  const { code, failures } = await walk(async ({ step }) => {
    given = await step("returns", async () => 7);
  });
  expect([code, given, failures]).toEqual([0, 7, []]);
});
