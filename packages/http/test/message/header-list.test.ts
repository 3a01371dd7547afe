import { inspect } from "node:util";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { HeaderList } from "../../src/message/header-list.ts";

describe("a header list rejects", () => {
  it.each([[""], ["a b"], ["a:"], ["a\n"], ["ä"], ["__proto__\0"]])("the name %j", (name) => {
    const list = HeaderList.from({ "x-a": "1" });
    for (const use of [
      () => list.get(name),
      () => list.has(name),
      () => list.set(name, "1"),
      () => list.append(name, "1"),
      () => list.delete(name),
      () => HeaderList.from({ [name]: "1" }),
    ]) {
      expect(use).toThrow(TypeError);
    }
    expect([...list]).toEqual([["x-a", "1"]]);
  });

  it.each([["a\r\nset-cookie: b"], ["a\nb"], ["a\rb"], ["a\0"], ["€"], ["\ud800"]])(
    "the value %j, without repeating it",
    (value) => {
      const list = HeaderList.from({ "x-a": "1" });
      expect(() => list.set("x-a", value)).toThrow(TypeError);
      expect(() => list.append("x-a", value)).toThrow(/^(?!.*set-cookie)/s);
      expect(() => HeaderList.from({ "x-b": value })).toThrow(TypeError);
      expect([...list]).toEqual([["x-a", "1"]]);
    },
  );

  it.each([
    ["a pair of one", [["a"]]],
    ["null", null],
    ["a number", 1],
  ])("%s", (_what, source) => {
    expect(() => HeaderList.from(source as unknown as HeadersInit)).toThrow(TypeError);
  });
});

describe("a header list", () => {
  it("behaves as the platform's headers for any sequence of calls", () => {
    const name = fc.constantFrom(
      "A",
      "a",
      "x-b",
      "X-B",
      "Set-Cookie",
      "set-cookie",
      "content-type",
    );
    const value = fc.oneof(
      fc.constantFrom("", " ", "\t1 ", "1, 2", "grün", "a\nb", "\n1", "€"),
      fc.string({ maxLength: 6 }),
    );
    const step = fc.record({ do: fc.constantFrom("set", "append", "delete", "get"), name, value });
    const source = fc.oneof(
      fc.dictionary(name, value, { noNullPrototype: true }),
      fc.array(fc.tuple(name, value)),
    );
    fc.assert(
      fc.property(source, fc.array(step, { maxLength: 12 }), (init, steps) => {
        expect(replay(HeaderList.from.bind(HeaderList), init, steps)).toEqual(
          replay((given) => new Headers(given), init, steps),
        );
      }),
      { numRuns: 500 },
    );
  });

  it("is accepted as headers by the platform", () => {
    const list = HeaderList.from([
      ["Set-Cookie", "a=1"],
      ["X-A", "1"],
      ["set-cookie", "b=2"],
    ]);
    expect(list).toBeInstanceOf(Headers);
    for (const copy of [new Headers(list), new Response(null, { headers: list }).headers]) {
      expect([...copy]).toEqual([...list]);
      expect(copy.getSetCookie()).toEqual(["a=1", "b=2"]);
    }
  });

  it("shows its fields when it is inspected, as the platform's do", () => {
    const fields = { "content-type": "text/plain", "x-a": "1" };
    expect(inspect(HeaderList.from(fields))).toBe(inspect(new Headers(fields)));
  });

  it("copies its source", () => {
    const fields = ["x-a", "1"];
    const first = HeaderList.of(fields);
    const second = HeaderList.from(first);
    first.set("x-a", "2");
    first.append("x-b", "3");
    expect([fields, [...second]]).toEqual([["x-a", "1"], [["x-a", "1"]]]);
    expect(HeaderList.fieldsOf(first)).toEqual(["x-a", "2", "x-b", "3"]);
  });

  it("accepts 200,000 headers of the platform without walking the list for each", () => {
    const many = new Headers();
    for (let index = 0; index < 200_000; index += 1) many.set(`x-${index}`, "1");
    expect([...HeaderList.from(many)]).toHaveLength(200_000);
  });
});

interface Step {
  readonly do: string;
  readonly name: string;
  readonly value: string;
}

/** What can be seen after each step; an error counts by its class. */
function replay(
  make: (init: HeadersInit) => Headers,
  init: HeadersInit,
  steps: readonly Step[],
): unknown[] {
  const seen: unknown[] = [];
  let headers: Headers;
  try {
    headers = make(init);
  } catch (error) {
    return [error instanceof TypeError];
  }
  for (const { do: action, name, value } of steps) {
    try {
      if (action === "set") headers.set(name, value);
      else if (action === "append") headers.append(name, value);
      else if (action === "delete") headers.delete(name);
      else seen.push(headers.get(name), headers.has(name));
    } catch (error) {
      seen.push(error instanceof TypeError);
    }
    const each: string[] = [];
    headers.forEach((text, key) => each.push(key, text));
    seen.push([...headers], [...headers.keys()], [...headers.values()], each);
    seen.push(headers.getSetCookie(), Object.fromEntries(headers));
  }
  return seen;
}
