import { describe, expect, it } from "vitest";
import { createOptionCheck } from "../../src/options/check-options.ts";
import { UsageError } from "../../src/errors/fetchwork-error.ts";

const checkOptions = createOptionCheck((message) => new UsageError("ERR_TEST_OPTION", message));

function check(options: unknown): void {
  checkOptions<object>("cors", options as object, ["allowedOrigins", "maxAge", "ip"] as never[]);
}

describe("the check that createOptionCheck() makes", () => {
  it.each([
    [{ allowedOrigin: "*" }, 'cors has no option "allowedOrigin", did you mean "allowedOrigins"?'],
    [{ allowedorigin: "*" }, 'cors has no option "allowedorigin", did you mean "allowedOrigins"?'],
    [{ "max-age": 1 }, 'cors has no option "max-age", did you mean "maxAge"?'],
    [{ maxAeg: undefined }, 'cors has no option "maxAeg", did you mean "maxAge"?'],
    [{ ipp: true }, 'cors has no option "ipp", did you mean "ip"?'],
    [{ x: 1 }, 'cors has no option "x"; it has allowedOrigins, maxAge, ip'],
    [{ constructor: 1 }, 'cors has no option "constructor"; it has allowedOrigins, maxAge, ip'],
    [{ ["a".repeat(1000)]: 1 }, /^cors has no option "a{100}"; it has/],
    [null, "the options of cors must be an object, got null"],
    ["dev", 'the options of cors must be an object, got "dev"'],
    [["dev"], "the options of cors must be an object, got a list"],
    [() => 1, "the options of cors must be an object, got a function"],
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
