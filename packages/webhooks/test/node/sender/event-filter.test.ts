import { describe, expect, it } from "vitest";
import { isEventName, wantsEvent } from "../../../src/node/sender/event-filter.ts";

describe("wantsEvent", () => {
  it.each([
    [undefined, "issues", "opened", true],
    [["issues"], "issues", "opened", true],
    [["issues"], "issues", undefined, true],
    [["issues.opened"], "issues", "opened", true],
    [["issues.opened"], "issues", "closed", false],
    [["issues.opened"], "issues", undefined, false],
    [["issues.*"], "issues", "closed", true],
    [["issues.*"], "issues", undefined, false],
    [["issues.*"], "issues2", "closed", false],
    [["order.*"], "order.paid", undefined, true],
    [["order.paid"], "order.paid", undefined, true],
    [["order"], "order.paid", undefined, false],
    [["a", "b"], "b", undefined, true],
    [["toString"], "__proto__", undefined, false],
  ])("%j of %s, %s: %s", (wanted, name, action, expected) => {
    expect(wantsEvent(wanted, { name, action })).toBe(expected);
  });
});

describe("isEventName", () => {
  it.each(["", "a b", "a\r\nx: y", "é", "a".repeat(129), ".a", "*", 5, null, "a\0"])(
    "refuses %j",
    (name) => {
      expect(isEventName(name)).toBe(false);
    },
  );

  it.each(["issues", "order.paid", "a:b/c-d_e", "0"])("takes %j", (name) => {
    expect(isEventName(name)).toBe(true);
  });
});
