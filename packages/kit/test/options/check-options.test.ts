import { describe, expect, it } from "vitest";
import { checkOptions, createOptionCheck } from "../../src/options/check-options.ts";
import { UsageError } from "../../src/errors/fetchwork-error.ts";

const known = {
  owner: "cors",
  names: ["allowedOrigins", "maxAge", "ip"],
  otherNames: { origin: "allowedOrigins" },
};

function check(options: unknown): void {
  checkOptions(options, known, (message) => new UsageError("ERR_TEST_OPTION", message));
}

describe("checkOptions", () => {
  it.each([
    [{ origin: "*" }, 'cors has no option "origin", did you mean "allowedOrigins"?'],
    [{ allowedorigin: "*" }, 'cors has no option "allowedorigin", did you mean "allowedOrigins"?'],
    [{ "max-age": 1 }, 'cors has no option "max-age", did you mean "maxAge"?'],
    [{ maxAeg: undefined }, 'cors has no option "maxAeg", did you mean "maxAge"?'],
    [{ ipp: true }, 'cors has no option "ipp", did you mean "ip"?'],
    [{ x: 1 }, 'cors has no option "x"; it has allowedOrigins, maxAge, ip'],
    [{ constructor: 1 }, 'cors has no option "constructor"; it has allowedOrigins, maxAge, ip'],
    [{ ["a".repeat(1000)]: 1 }, /^cors has no option "a{100}"; it has/],
    [null, "the options of cors are null, expected an object"],
    ["dev", 'the options of cors are "dev", expected an object'],
    [["dev"], "the options of cors are a list, expected an object"],
    [() => 1, "the options of cors are a function, expected an object"],
  ])("throws for %j", (options, message) => {
    expect(() => check(options)).toThrow(UsageError);
    expect(() => check(options)).toThrow(message);
  });

  it("accepts undefined, known names, and what is not an own enumerable key", () => {
    const inherited = Object.create({ typo: 1 }) as object;
    const hidden = Object.defineProperty({}, "typo", { value: 1 });
    for (const options of [undefined, {}, { maxAge: 1, ip: undefined }, inherited, hidden]) {
      expect(() => check(options)).not.toThrow();
    }
  });
});

describe("the check that createOptionCheck() makes", () => {
  const checkNames = createOptionCheck((message) => new UsageError("ERR_TEST_OPTION", message));

  it("throws the error of its package for a name that is not an option", () => {
    const options = { maxAeg: 1 } as { maxAge?: number };
    const run = (): void => checkNames("cors", options, ["maxAge"]);
    expect(run).toThrow(UsageError);
    expect(run).toThrow('cors has no option "maxAeg", did you mean "maxAge"?');
  });

  it("accepts undefined and known names", () => {
    checkNames<{ maxAge?: number }>("cors", undefined, ["maxAge"]);
    checkNames("cors", { maxAge: 1 }, ["maxAge"]);
  });
});
