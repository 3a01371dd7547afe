import { expect, it } from "vitest";
import { isObject } from "../../src/options/is-object.ts";

it.each([{}, { a: 1 }, Object.create(null), new Date(0), new Map()])(
  "isObject() accepts %o",
  (value) => {
    expect(isObject(value)).toBe(true);
  },
);

it.each([undefined, null, 0, "", "{}", true, [], [{}], () => 1])(
  "isObject() rejects %o",
  (value) => {
    expect(isObject(value)).toBe(false);
  },
);
