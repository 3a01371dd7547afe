import fc from "fast-check";
import { describe, expect, it } from "vitest";
import {
  isEventName,
  topicsOf,
  topicsOfEvent,
} from "../../../src/node/sender/endpoints/subscriptions.ts";

function wants(
  events: readonly string[] | undefined,
  { name, action }: { readonly name: string; readonly action: string | undefined },
): boolean {
  const topics = new Set(topicsOfEvent({ name, action, tenant: undefined }));
  return topicsOf(undefined, events).some((topic) => topics.has(topic));
}

describe("the topics of endpoints and of events", () => {
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
    expect(wants(wanted, { name, action })).toBe(expected);
  });
});

describe("topics", () => {
  const word = fc.stringMatching(/^[a-z](?:[a-z.]{0,8}[a-z])?$/);
  const filter = fc.oneof(
    word,
    word.map((text) => `${text}.*`),
  );

  it("find an endpoint exactly when one of its filters takes the event", () => {
    const events = fc.option(fc.array(filter, { minLength: 1, maxLength: 4 }), { nil: undefined });
    const action = fc.option(fc.oneof(word, fc.string()), { nil: undefined });
    fc.assert(
      fc.property(events, word, action, (wanted, name, said) => {
        const full = said === undefined ? name : `${name}.${said}`;
        const expected =
          wanted === undefined ||
          wanted.some(
            (each) =>
              each === name ||
              each === full ||
              (each.endsWith(".*") && full.startsWith(each.slice(0, -1))),
          );
        expect(wants(wanted, { name, action: said })).toBe(expected);
      }),
      { numRuns: 2_000 },
    );
  });

  it("never find the endpoint of another tenant", () => {
    const tenant = fc.option(fc.stringMatching(/^[\w-]{1,8}$/), { nil: undefined });
    fc.assert(
      fc.property(tenant, tenant, word, (mine, yours, name) => {
        fc.pre(mine !== yours);
        const topics = topicsOfEvent({ tenant: yours, name, action: undefined });
        expect(topicsOf(mine, [name]).some((topic) => topics.includes(topic))).toBe(false);
        expect(topicsOf(mine).some((topic) => topics.includes(topic))).toBe(false);
      }),
    );
  });

  it("of an event are few, however long its action is", () => {
    const topics = topicsOfEvent({ tenant: "a", name: "a", action: "b.".repeat(100_000) });
    expect(topics.length).toBeLessThan(70);
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
