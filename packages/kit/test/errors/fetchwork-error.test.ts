import { runInNewContext } from "node:vm";
import { describe, expect, it } from "vitest";
import { isExposedError } from "../../src/errors/exposed-error.ts";
import {
  errorBrand,
  FetchworkError,
  isFetchworkError,
  UsageError,
} from "../../src/errors/fetchwork-error.ts";
import { BodyTooLargeError } from "../../src/bodies/body-errors.ts";

describe("isFetchworkError", () => {
  it.each([
    new FetchworkError("ERR_X", "x"),
    new UsageError("ERR_X", "x"),
    new (class extends UsageError {})("ERR_X", "x"),
    new BodyTooLargeError(1),
  ])("recognises %o", (error) => {
    expect(isFetchworkError(error)).toBe(true);
    expect(error.code).toMatch(/^ERR_/);
  });

  it.each([new Error("x"), new TypeError("x"), { [errorBrand]: true }, null, undefined, "ERR_X"])(
    "does not recognise %o",
    (value) => {
      expect(isFetchworkError(value)).toBe(false);
    },
  );

  it("does not list the brand among the properties of an error", () => {
    const error = new UsageError("ERR_X", "x");
    expect(Reflect.ownKeys(error)).not.toContain(errorBrand);
    expect(JSON.stringify(error)).toBe('{"name":"UsageError","code":"ERR_X"}');
  });
});

it("UsageError is a TypeError", () => {
  expect(new UsageError("ERR_X", "x")).toBeInstanceOf(TypeError);
});

describe("isExposedError", () => {
  it.each([
    Object.assign(new Error("upstream"), { status: 410 }),
    Object.assign(new Error("upstream"), { status: 410, expose: "yes" }),
    Object.assign(new Error("x"), { status: 200, expose: true }),
    Object.assign(new Error("x"), { status: 400.5, expose: true }),
    Object.assign(new Error("x"), { status: "404", expose: true }),
    Object.assign(new Error("x"), { status: 600, expose: true }),
    { status: 404, expose: true },
    undefined,
    runInNewContext("({ status: 404, expose: true })") as unknown,
  ])("does not recognise %o", (value) => {
    expect(isExposedError(value)).toBe(false);
  });

  it.each([
    new BodyTooLargeError(5),
    Object.assign(new Error("no such page"), { status: 404, expose: true }),
    Object.assign(new Error("full"), { status: 507, expose: true }),
  ])("recognises %o", (value) => {
    expect(isExposedError(value)).toBe(true);
  });
});
