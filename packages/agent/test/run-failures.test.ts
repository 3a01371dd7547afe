import { describe, expect, it } from "vitest";
import { processorTime } from "../../kit/test/processor-time.ts";
import { readFailures, testFailures } from "../src/verify/run-failures.ts";

const { signal } = new AbortController();

/**
 * What each runner prints, written by hand in its format, of a test "halves" in a group "math",
 * where 1 is not 2.
 */
const outputs: readonly (readonly [runner: string, name: string, output: string])[] = [
  [
    "TAP",
    "halves",
    `TAP version 13
# not ok 3 - printed by a test
# Subtest: math
    not ok 1 - halves
      ---
      failureType: 'testCodeFailure'
      error: |-
        Expected values to be strictly equal:
        not ok 7 - quoted
      expected: 2
      actual: 1
      stack: |-
        TestContext.<anonymous> (test/half.test.js:6:10)
      ...
    1..1
not ok 1 - math
  ---
  failureType: 'subtestsFailed'
  error: '1 subtest failed'
  ...
ok 2 - fine
not ok 3 - later # TODO
`,
  ],
  [
    "node's specification reporter",
    "halves",
    `▶ math
  ✖ halves (0.9ms)
✖ math (1.4ms)
ℹ fail 1

✖ failing tests:

test at test/half.test.js:5:3
✖ halves (0.9ms)
  AssertionError [ERR_ASSERTION]: Expected values to be strictly equal:
  1 !== 2
      at TestContext.<anonymous> (test/half.test.js:6:10) {
    actual: 1,
    expected: 2,
`,
  ],
  [
    "vitest",
    "test/half.test.js > math > halves",
    ` RUN  v4.0.0 /x

 ❯ test/half.test.js (1 test | 1 failed) 5ms
   × halves 4ms

⎯⎯⎯⎯⎯⎯⎯ Failed Tests 1 ⎯⎯⎯⎯⎯⎯⎯

 FAIL  test/half.test.js > math > halves
AssertionError: expected 1 to be 2 // Object.is equality

- Expected
+ Received

 ❯ test/half.test.js:6:19
`,
  ],
  [
    "jest",
    "math › halves",
    `FAIL test/half.test.js
  math
    ✕ halves (3 ms)

  ● math › halves

    expect(received).toBe(expected)

    Expected: 2
    Received: 1

      at Object.toBe (test/half.test.js:6:19)

Test Suites: 1 failed, 1 total
`,
  ],
  [
    "mocha",
    "math",
    `
  math
    1) halves

  0 passing (4ms)
  1 failing

  1) math
       halves:

      AssertionError [ERR_ASSERTION]: 1 == 2
      + expected - actual

      -1
      +2

      at Context.<anonymous> (test/half.test.js:6:12)
`,
  ],
];

describe("testFailures", () => {
  it.each(outputs)("reads the output of %s", (_runner, name, output) => {
    expect(testFailures(output).map((one) => one.name)).toEqual([name]);
  });

  it.each(["", "not ok", "error: x\n", "--- FAIL\n", "1) \n", "FAIL \n"])(
    "knows no test in %j",
    (output) => {
      expect(testFailures(output)).toEqual([]);
    },
  );

  it("ends on a megabyte of beginnings", () => {
    const started = processorTime();
    testFailures("not ok 1 - a\n".repeat(80_000));
    testFailures(" ".repeat(1_000_000));
    testFailures(`✖ ${"(1".repeat(500_000)}`);
    testFailures(`${"_".repeat(500_000)}\n ___ ${" _".repeat(200_000)}`);
    expect(processorTime(started)).toBeLessThan(3_000);
  });
});

describe("readFailures", () => {
  it.each(outputs)("names what the test of %s is about", (_runner, _name, stdout) => {
    const files = new Map([
      ["src/half.js", "export const half = (n) => n / 4;\n"],
      ["test/half.test.js", 'import { half } from "../src/half.js";\n'],
    ]);
    const result = { code: 1, stdout, stderr: "", timedOut: false };
    const found = readFailures("npm test", result, { folder: "/x", files, signal });
    expect(found).toMatchObject([{ path: "src/half.js", related: "test/half.test.js" }]);
    expect(found[0]?.message).toMatch(/2/);
  });

  it("takes no longer for long lines", () => {
    const started = processorTime();
    const stdout = `${"a".repeat(400_000)}\n${"a.".repeat(200_000)}\n${"/tmp/".repeat(40_000)}`;
    const files = new Map([["a.js", ""]]);
    readFailures(
      "x",
      { code: 1, stdout, stderr: "", timedOut: false },
      { folder: "/x", files, signal },
    );
    expect(processorTime(started)).toBeLessThan(3_000);
  });
});
